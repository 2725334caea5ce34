/* dates.c - dates and times of ISO 8601 as days since 1970.
 *
 *   2026-01-31   20260131   2026-W05-6   2026W056   2026-W05
 *   … and a time after any one character: 10   10:30   10:30:05   10:30:05.25   1030   103005
 *   … and an offset after that: Z   +02   +02:30   +0230   +02:30:15
 *
 * in the proleptic Gregorian calendar, years 1 to 9999. Digits of a second after the sixth are
 * dropped. */
#include "ragfile/refinement.h"

static const int64_t SECONDS = 86400, MICROSECONDS = 1000000;

struct text {
    const uint8_t *at, *end;
};

/* Read a number of so many digits. */
static bool read_digits(struct text *text, int count, int64_t *number) {
    *number = 0;
    if (text->end - text->at < count) return false;
    for (int i = 0; i < count; i++, text->at++) {
        if (*text->at < '0' || *text->at > '9') return false;
        *number = 10 * *number + (*text->at - '0');
    }
    return true;
}

static bool skip(struct text *text, uint8_t wanted) {
    const bool is_there = text->at < text->end && *text->at == wanted;
    text->at += is_there;
    return is_there;
}

/* Days since 1970 of the first day of a year, or of March in it. */
static int64_t days_to_year(int64_t year) {
    const int64_t before = year - 1;
    return 365 * before + before / 4 - before / 100 + before / 400 - 719162;
}

static bool read_month_and_day(struct text *text, int64_t year, bool has_dashes, int64_t *days) {
    static const uint16_t BEFORE[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
    int64_t month, day;
    if (!read_digits(text, 2, &month) || skip(text, '-') != has_dashes) return false;
    if (!read_digits(text, 2, &day) || month < 1 || month > 12) return false;
    const bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    const int64_t size = BEFORE[month] - BEFORE[month - 1] + (month == 2 && is_leap);
    if (day < 1 || day > size) return false;
    *days = days_to_year(year) + BEFORE[month - 1] + (month > 2 && is_leap) + day - 1;
    return true;
}

/* The Monday of a year's first week, which has its fourth day of January. */
static int64_t first_monday(int64_t year) {
    const int64_t fourth = days_to_year(year) + 3;
    return fourth - ((fourth + 3) % 7 + 7) % 7;
}

static bool read_week(struct text *text, int64_t year, bool has_dashes, int64_t *days) {
    int64_t week, day = 1;
    if (!read_digits(text, 2, &week)) return false;
    const bool has_dash = skip(text, '-');
    const bool has_day = text->at < text->end && *text->at >= '0' && *text->at <= '9';
    if (has_dash != (has_day && has_dashes)) return false;
    if (has_day && (!read_digits(text, 1, &day) || day < 1 || day > 7)) return false;
    const int64_t first = first_monday(year), next = first_monday(year + 1);
    *days = first + 7 * (week - 1) + day - 1;
    return week >= 1 && first + 7 * (week - 1) < next;
}

static bool read_date(struct text *text, int64_t *days) {
    int64_t year;
    if (!read_digits(text, 4, &year) || year < 1) return false;
    const bool has_dashes = skip(text, '-');
    return skip(text, 'W') ? read_week(text, year, has_dashes, days)
                           : read_month_and_day(text, year, has_dashes, days);
}

/* Read hours, minutes and seconds, the later ones optional. */
static bool read_clock(struct text *text, int64_t *seconds) {
    int64_t parts[3] = {0};
    if (!read_digits(text, 2, &parts[0])) return false;
    const bool has_colons = skip(text, ':');
    for (int i = 1; i < 3; i++) {
        const bool is_digit = text->at < text->end && *text->at >= '0' && *text->at <= '9';
        if (i == 1 && !is_digit && !has_colons) break;
        if (i == 2 && !(has_colons ? skip(text, ':') : is_digit)) break;
        if (!read_digits(text, 2, &parts[i])) return false;
    }
    *seconds = 3600 * parts[0] + 60 * parts[1] + parts[2];
    return parts[0] < 24 && parts[1] < 60 && parts[2] < 60;
}

/* Read the digits of a second after its point or comma. */
static bool read_fraction(struct text *text, int64_t *micros) {
    int64_t unit = MICROSECONDS / 10;
    const uint8_t *first = text->at;
    for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++, unit /= 10)
        *micros += unit * (*text->at - '0');
    return text->at > first;
}

static bool read_offset(struct text *text, int64_t *seconds) {
    int64_t sign = 1;
    *seconds = 0;
    if (text->at == text->end || skip(text, 'Z')) return true;
    if (skip(text, '-')) sign = -1;
    else if (!skip(text, '+')) return false;
    if (!read_clock(text, seconds)) return false;
    *seconds *= sign;
    return true;
}

static bool read_time(struct text *text, int64_t *seconds, int64_t *micros) {
    int64_t offset;
    text->at++;
    while (text->at < text->end && (*text->at & 0xc0) == 0x80) text->at++;
    const uint8_t *first = text->at;
    if (!read_clock(text, seconds)) return false;
    const bool has_seconds = text->at - first == 8 || (text->at - first == 6 && first[2] != ':');
    if (has_seconds && (skip(text, '.') || skip(text, ',')) && !read_fraction(text, micros))
        return false;
    if (!read_offset(text, &offset)) return false;
    *seconds -= offset;
    return true;
}

/* The nearest binary64 to seconds + micros / 1,000,000. Where that has more than 53 bits before the
 * division, it is computed to 24 bits of a second, of which the last one marks a remainder;
 * conversion then rounds once. */
static double exact_seconds(int64_t seconds, int64_t micros) {
    enum { UNIT = 1 << 24 };
    const int64_t total = seconds * MICROSECONDS + micros;
    if (micros == 0) return (double)seconds;
    if (total < (int64_t)1 << 53 && total > -((int64_t)1 << 53))
        return (double)total / (double)MICROSECONDS;
    const bool has_more = micros * UNIT % MICROSECONDS != 0;
    return (double)((seconds * UNIT + micros * UNIT / MICROSECONDS) | has_more) / UNIT;
}

bool rag_date_days(const uint8_t *raw, size_t size, double *days) {
    struct text text = {raw, raw + size};
    int64_t date, seconds = 0, micros = 0;
    if (!read_date(&text, &date)) return false;
    if (text.at < text.end && !read_time(&text, &seconds, &micros)) return false;
    if (text.at != text.end) return false;
    *days = exact_seconds(SECONDS * date + seconds, micros) / (double)SECONDS;
    return true;
}
