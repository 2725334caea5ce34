// Generated from tamil.sbl by Snowball 3.1.1 - https://snowballstem.org/; BSD, see LICENSE
import { Snowball } from "./snowball.js";
class TamilStemmer extends Snowball {
B_found_vetrumai_urupu = false;
r_has_min_length() {
return this.current.length > 4;
}
r_fix_va_start() {
let among_var;
this.bra = this.cursor;
among_var = this.find_among(TamilStemmer.a_0);
if (among_var === 0) {
return false;
}
this.ket = this.cursor;
this.slice_from(TamilStemmer.as_0[among_var - (1)]);
return true;
}
r_fix_endings() {
let v_1, v_2;
v_1 = this.cursor;
lab0: {
while (true) {
v_2 = this.cursor;
lab1: {
if (!(this.r_fix_ending())) {
break lab1;
}
continue;
}
this.cursor = v_2;
break;
}
}
this.cursor = v_1;
return true;
}
r_remove_question_prefixes() {
let v_1;
this.bra = this.cursor;
if ((this.cursor === this.limit) || (this.current[this.cursor] !== "எ")) {
return false;
}
this.cursor += 1;
if (this.find_among(TamilStemmer.a_1) === 0) {
return false;
}
if ((this.cursor === this.limit) || (this.current[this.cursor] !== "்")) {
return false;
}
this.cursor += 1;
this.ket = this.cursor;
this.slice_del();
v_1 = this.cursor;
this.r_fix_va_start();
this.cursor = v_1;
return true;
}
r_fix_ending() {
let among_var, v_1, v_2, v_3, v_4, v_5, v_6;
if (this.current.length <= 3) {
return false;
}
this.limit_backward = this.cursor;
this.cursor = this.limit;
while (true) {
v_1 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
among_var = this.find_among_b(TamilStemmer.a_5);
if (among_var === 0) {
break lab0;
}
this.bra = this.cursor;
if (among_var === 1) {
this.slice_del();
} else {
if (among_var === 2) {
v_2 = this.limit - (this.cursor);
if (this.find_among_b(TamilStemmer.a_2) === 0) {
break lab0;
}
this.cursor = this.limit - (v_2);
this.slice_del();
} else {
if (among_var === 3) {
this.slice_from("ள்");
} else {
if (among_var === 4) {
this.slice_from("ல்");
} else {
if (among_var === 5) {
this.slice_from("டு");
} else {
if (among_var === 6) {
if (!(this.B_found_vetrumai_urupu)) {
break lab0;
}
lab1: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "ை")) {
break lab1;
}
this.cursor -= 1;
break lab0;
}
this.slice_from("ம்");
} else {
if (among_var === 7) {
this.slice_from("்");
} else {
if (among_var === 8) {
v_3 = this.limit - (this.cursor);
lab1: {
if (this.find_among_b(TamilStemmer.a_3) === 0) {
break lab1;
}
break lab0;
}
this.cursor = this.limit - (v_3);
this.slice_del();
} else {
among_var = this.find_among_b(TamilStemmer.a_4);
this.slice_from(TamilStemmer.as_4[among_var - (1)]);
}
}
}
}
}
}
}
}
break;
}
this.cursor = this.limit - (v_1);
this.ket = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "்")) {
return false;
}
this.cursor -= 1;
while (true) {
v_4 = this.limit - (this.cursor);
lab0: {
if (this.find_among_b(TamilStemmer.a_6) === 0) {
break lab0;
}
v_5 = this.limit - (this.cursor);
lab1: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "்")) {
this.cursor = this.limit - (v_5);
break lab1;
}
this.cursor -= 1;
if (this.find_among_b(TamilStemmer.a_7) === 0) {
this.cursor = this.limit - (v_5);
break lab1;
}
}
this.bra = this.cursor;
this.slice_del();
break;
}
this.cursor = this.limit - (v_4);
lab0: {
if (this.find_among_b(TamilStemmer.a_8) === 0) {
break lab0;
}
this.bra = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "்")) {
break lab0;
}
this.cursor -= 1;
this.slice_del();
break;
}
this.cursor = this.limit - (v_4);
v_6 = this.limit - (this.cursor);
if (this.find_among_b(TamilStemmer.a_9) === 0) {
return false;
}
this.cursor = this.limit - (v_6);
this.bra = this.cursor;
this.slice_del();
break;
}
break;
}
this.cursor = this.limit_backward;
return true;
}
r_remove_pronoun_prefixes() {
let v_1;
this.bra = this.cursor;
if (this.find_among(TamilStemmer.a_10) === 0) {
return false;
}
if (this.find_among(TamilStemmer.a_11) === 0) {
return false;
}
if ((this.cursor === this.limit) || (this.current[this.cursor] !== "்")) {
return false;
}
this.cursor += 1;
this.ket = this.cursor;
this.slice_del();
v_1 = this.cursor;
this.r_fix_va_start();
this.cursor = v_1;
return true;
}
r_remove_plural_suffix() {
let among_var, v_1;
this.limit_backward = this.cursor;
this.cursor = this.limit;
this.ket = this.cursor;
among_var = this.find_among_b(TamilStemmer.a_13);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
if (among_var === 1) {
while (true) {
v_1 = this.limit - (this.cursor);
lab0: {
if (this.find_among_b(TamilStemmer.a_12) === 0) {
break lab0;
}
this.slice_from("ுங்");
break;
}
this.cursor = this.limit - (v_1);
this.slice_from("்");
break;
}
} else {
if (among_var === 2) {
this.slice_from("ல்");
} else {
if (among_var === 3) {
this.slice_from("ள்");
} else {
this.slice_del();
}
}
}
this.cursor = this.limit_backward;
return true;
}
r_remove_question_suffixes() {
let v_1;
if (!(this.r_has_min_length())) {
return false;
}
this.limit_backward = this.cursor;
this.cursor = this.limit;
v_1 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if (this.find_among_b(TamilStemmer.a_14) === 0) {
break lab0;
}
this.bra = this.cursor;
this.slice_from("்");
}
this.cursor = this.limit - (v_1);
this.cursor = this.limit_backward;
this.r_fix_endings();
return true;
}
r_remove_command_suffixes() {
if (!(this.r_has_min_length())) {
return false;
}
this.limit_backward = this.cursor;
this.cursor = this.limit;
this.ket = this.cursor;
if (this.find_among_b(TamilStemmer.a_15) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.cursor = this.limit_backward;
return true;
}
r_remove_um() {
let v_1;
if (!(this.r_has_min_length())) {
return false;
}
this.limit_backward = this.cursor;
this.cursor = this.limit;
this.ket = this.cursor;
if (!(this.eq_s_b("ும்"))) {
return false;
}
this.bra = this.cursor;
this.slice_from("்");
this.cursor = this.limit_backward;
v_1 = this.cursor;
this.r_fix_ending();
this.cursor = v_1;
return true;
}
r_remove_common_word_endings() {
let among_var, v_1;
if (!(this.r_has_min_length())) {
return false;
}
this.limit_backward = this.cursor;
this.cursor = this.limit;
this.ket = this.cursor;
among_var = this.find_among_b(TamilStemmer.a_17);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
if (among_var === 1) {
this.slice_from("்");
} else {
if (among_var === 2) {
v_1 = this.limit - (this.cursor);
lab0: {
if (this.find_among_b(TamilStemmer.a_16) === 0) {
break lab0;
}
return false;
}
this.cursor = this.limit - (v_1);
this.slice_from("்");
} else {
this.slice_del();
}
}
this.cursor = this.limit_backward;
this.r_fix_endings();
return true;
}
r_remove_vetrumai_urupukal() {
let among_var, v_1, v_2, v_3, v_4, v_5, v_6, v_7, v_8, v_9;
this.B_found_vetrumai_urupu = false;
if (!(this.r_has_min_length())) {
return false;
}
this.limit_backward = this.cursor;
this.cursor = this.limit;
while (true) {
v_1 = this.limit - (this.cursor);
lab0: {
v_2 = this.limit - (this.cursor);
this.ket = this.cursor;
among_var = this.find_among_b(TamilStemmer.a_20);
if (among_var === 0) {
break lab0;
}
this.bra = this.cursor;
if (among_var === 1) {
this.slice_del();
} else {
if (among_var === 2) {
this.slice_from("்");
} else {
if (among_var === 3) {
lab1: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "ம")) {
break lab1;
}
this.cursor -= 1;
break lab0;
}
this.slice_from("்");
} else {
if (among_var === 4) {
if (this.current.length < 7) {
break lab0;
}
this.slice_from("்");
} else {
if (among_var === 5) {
v_3 = this.limit - (this.cursor);
lab1: {
if (this.find_among_b(TamilStemmer.a_18) === 0) {
break lab1;
}
break lab0;
}
this.cursor = this.limit - (v_3);
this.slice_from("்");
} else {
if (among_var === 6) {
v_4 = this.limit - (this.cursor);
lab1: {
if (this.find_among_b(TamilStemmer.a_19) === 0) {
break lab1;
}
break lab0;
}
this.cursor = this.limit - (v_4);
this.slice_del();
} else {
this.slice_from("ி");
}
}
}
}
}
}
this.cursor = this.limit - (v_2);
break;
}
this.cursor = this.limit - (v_1);
v_5 = this.limit - (this.cursor);
this.ket = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "ை")) {
return false;
}
this.cursor -= 1;
while (true) {
v_6 = this.limit - (this.cursor);
lab0: {
v_7 = this.limit - (this.cursor);
lab1: {
if (this.find_among_b(TamilStemmer.a_21) === 0) {
break lab1;
}
break lab0;
}
this.cursor = this.limit - (v_7);
break;
}
this.cursor = this.limit - (v_6);
v_8 = this.limit - (this.cursor);
if (this.find_among_b(TamilStemmer.a_22) === 0) {
return false;
}
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "்")) {
return false;
}
this.cursor -= 1;
this.cursor = this.limit - (v_8);
break;
}
this.bra = this.cursor;
this.slice_from("்");
this.cursor = this.limit - (v_5);
break;
}
this.B_found_vetrumai_urupu = true;
v_9 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if (!(this.eq_s_b("ின்"))) {
break lab0;
}
this.bra = this.cursor;
this.slice_from("்");
}
this.cursor = this.limit - (v_9);
this.cursor = this.limit_backward;
this.r_fix_endings();
return true;
}
r_remove_tense_suffixes() {
let v_1;
while (true) {
v_1 = this.cursor;
lab0: {
if (!(this.r_remove_tense_suffix())) {
break lab0;
}
continue;
}
this.cursor = v_1;
break;
}
return true;
}
r_remove_tense_suffix() {
let B_found_a_match, among_var, v_1, v_2, v_3, v_4, v_5, v_6;
B_found_a_match = false;
if (!(this.r_has_min_length())) {
return false;
}
this.limit_backward = this.cursor;
this.cursor = this.limit;
v_1 = this.limit - (this.cursor);
lab0: {
v_2 = this.limit - (this.cursor);
this.ket = this.cursor;
among_var = this.find_among_b(TamilStemmer.a_25);
if (among_var === 0) {
break lab0;
}
this.bra = this.cursor;
if (among_var === 1) {
this.slice_del();
} else {
if (among_var === 2) {
v_3 = this.limit - (this.cursor);
lab1: {
if (this.find_among_b(TamilStemmer.a_23) === 0) {
break lab1;
}
break lab0;
}
this.cursor = this.limit - (v_3);
this.slice_del();
} else {
if (among_var === 3) {
v_4 = this.limit - (this.cursor);
lab1: {
if (this.find_among_b(TamilStemmer.a_24) === 0) {
break lab1;
}
break lab0;
}
this.cursor = this.limit - (v_4);
this.slice_del();
} else {
if (among_var === 4) {
lab1: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "ச")) {
break lab1;
}
this.cursor -= 1;
break lab0;
}
this.slice_from("்");
} else {
if (among_var === 5) {
this.slice_from("்");
} else {
v_5 = this.limit - (this.cursor);
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "்")) {
break lab0;
}
this.cursor -= 1;
this.cursor = this.limit - (v_5);
this.slice_del();
}
}
}
}
}
B_found_a_match = true;
this.cursor = this.limit - (v_2);
}
this.cursor = this.limit - (v_1);
v_6 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if (this.find_among_b(TamilStemmer.a_26) === 0) {
break lab0;
}
this.bra = this.cursor;
this.slice_del();
B_found_a_match = true;
}
this.cursor = this.limit - (v_6);
this.cursor = this.limit_backward;
this.r_fix_endings();
return B_found_a_match;
}
_stem() {
let v_1, v_2, v_3, v_4, v_5, v_6, v_7, v_8, v_9;
this.B_found_vetrumai_urupu = false;
v_1 = this.cursor;
this.r_fix_ending();
this.cursor = v_1;
if (!(this.r_has_min_length())) {
return false;
}
v_2 = this.cursor;
this.r_remove_question_prefixes();
this.cursor = v_2;
v_3 = this.cursor;
this.r_remove_pronoun_prefixes();
this.cursor = v_3;
this.r_remove_question_suffixes();
v_4 = this.cursor;
this.r_remove_um();
this.cursor = v_4;
v_5 = this.cursor;
this.r_remove_common_word_endings();
this.cursor = v_5;
v_6 = this.cursor;
this.r_remove_vetrumai_urupukal();
this.cursor = v_6;
v_7 = this.cursor;
this.r_remove_plural_suffix();
this.cursor = v_7;
v_8 = this.cursor;
this.r_remove_command_suffixes();
this.cursor = v_8;
v_9 = this.cursor;
this.r_remove_tense_suffixes();
this.cursor = v_9;
return true;
}
static a_0 = [["வு",-1,3],["வூ",-1,4],["வொ",-1,2],["வோ",-1,1]];
static as_0 = ["ஓ","ஒ","உ","ஊ"];
static a_1 = [["க",-1,-1],["ங",-1,-1],["ச",-1,-1],["ஞ",-1,-1],["த",-1,-1],["ந",-1,-1],["ப",-1,-1],["ம",-1,-1],["ய",-1,-1],["வ",-1,-1]];
static a_2 = [["ி",-1,-1],["ீ",-1,-1],["ை",-1,-1]];
static a_3 = [["ா",-1,-1],["ி",-1,-1],["ீ",-1,-1],["ு",-1,-1],["ூ",-1,-1],["ெ",-1,-1],["ே",-1,-1],["ை",-1,-1]];
static a_4 = [["",-1,2],["ை",0,1],["்",0,1]];
static as_4 = ["","ம்"];
static a_5 = [["ந்த",-1,1],["ய",-1,1],["வ",-1,1],["னு",-1,8],["ுக்",-1,7],["ுக்க்",-1,7],["ட்க்",-1,3],["ற்க்",-1,4],["ங்",-1,9],["ட்ட்",-1,5],["த்த்",-1,6],["ந்த்",-1,1],["ந்",-1,1],["ட்ப்",-1,3],["ய்",-1,2],["ன்ற்",-1,4],["வ்",-1,1]];
static a_6 = [["க",-1,-1],["ச",-1,-1],["ட",-1,-1],["த",-1,-1],["ப",-1,-1],["ற",-1,-1]];
static a_7 = [["க",-1,-1],["ச",-1,-1],["ட",-1,-1],["த",-1,-1],["ப",-1,-1],["ற",-1,-1]];
static a_8 = [["ஞ",-1,-1],["ண",-1,-1],["ந",-1,-1],["ன",-1,-1],["ம",-1,-1],["ய",-1,-1],["ர",-1,-1],["ல",-1,-1],["ள",-1,-1],["ழ",-1,-1],["வ",-1,-1]];
static a_9 = [["ா",-1,-1],["ி",-1,-1],["ீ",-1,-1],["ு",-1,-1],["ூ",-1,-1],["ெ",-1,-1],["ே",-1,-1],["ை",-1,-1],["்",-1,-1]];
static a_10 = [["அ",-1,-1],["இ",-1,-1],["உ",-1,-1]];
static a_11 = [["க",-1,-1],["ங",-1,-1],["ச",-1,-1],["ஞ",-1,-1],["த",-1,-1],["ந",-1,-1],["ப",-1,-1],["ம",-1,-1],["ய",-1,-1],["வ",-1,-1]];
static a_12 = [["க",-1,-1],["ச",-1,-1],["ட",-1,-1],["த",-1,-1],["ப",-1,-1],["ற",-1,-1]];
static a_13 = [["கள்",-1,4],["ுங்கள்",0,1],["ட்கள்",0,3],["ற்கள்",0,2]];
static a_14 = [["ா",-1,-1],["ே",-1,-1],["ோ",-1,-1]];
static a_15 = [["பி",-1,-1],["வி",-1,-1]];
static a_16 = [["ா",-1,-1],["ி",-1,-1],["ீ",-1,-1],["ு",-1,-1],["ூ",-1,-1],["ெ",-1,-1],["ே",-1,-1],["ை",-1,-1]];
static a_17 = [["பட்ட",-1,3],["பட்டண",-1,3],["தான",-1,3],["படிதான",2,3],["ென",-1,1],["ாகிய",-1,1],["குரிய",-1,3],["ுடைய",-1,1],["ல்ல",-1,2],["ுள்ள",-1,1],["ாகி",-1,1],["படி",-1,3],["ின்றி",-1,1],["பற்றி",-1,3],["படு",-1,3],["விடு",-1,3],["பட்டு",-1,3],["விட்டு",-1,3],["பட்டது",-1,3],["ென்று",-1,1],["ுடை",-1,1],["ில்லை",-1,1],["ுடன்",-1,1],["ிடம்",-1,1],["ெல்லாம்",-1,3],["ெனும்",-1,1]];
static a_18 = [["ா",-1,-1],["ி",-1,-1],["ீ",-1,-1],["ு",-1,-1],["ூ",-1,-1],["ெ",-1,-1],["ே",-1,-1],["ை",-1,-1]];
static a_19 = [["ா",-1,-1],["ி",-1,-1],["ீ",-1,-1],["ு",-1,-1],["ூ",-1,-1],["ெ",-1,-1],["ே",-1,-1],["ை",-1,-1]];
static a_20 = [["விட",-1,2],["ீ",-1,7],["ொடு",-1,2],["ோடு",-1,2],["து",-1,6],["ிருந்து",4,2],["ின்று",-1,2],["ுடை",-1,2],["னை",-1,1],["கண்",-1,1],["ின்",-1,3],["முன்",-1,1],["ிடம்",-1,4],["ிற்",-1,2],["மேற்",-1,1],["ல்",-1,5],["ாமல்",15,2],["ால்",15,2],["ில்",15,2],["மேல்",15,1],["ுள்",-1,2],["கீழ்",-1,1]];
static a_21 = [["க",-1,-1],["ச",-1,-1],["ட",-1,-1],["த",-1,-1],["ப",-1,-1],["ற",-1,-1]];
static a_22 = [["க",-1,-1],["ச",-1,-1],["ட",-1,-1],["த",-1,-1],["ப",-1,-1],["ற",-1,-1]];
static a_23 = [["அ",-1,-1],["ஆ",-1,-1],["இ",-1,-1],["ஈ",-1,-1],["உ",-1,-1],["ஊ",-1,-1],["எ",-1,-1],["ஏ",-1,-1],["ஐ",-1,-1],["ஒ",-1,-1],["ஓ",-1,-1],["ஔ",-1,-1]];
static a_24 = [["ா",-1,-1],["ி",-1,-1],["ீ",-1,-1],["ு",-1,-1],["ூ",-1,-1],["ெ",-1,-1],["ே",-1,-1],["ை",-1,-1]];
static a_25 = [["க",-1,1],["த",-1,1],["ன",-1,1],["ப",-1,1],["ய",-1,1],["ா",-1,5],["கு",-1,6],["படு",-1,1],["து",-1,3],["ிற்று",-1,1],["னை",-1,1],["வை",-1,1],["னன்",-1,1],["பன்",-1,1],["வன்",-1,2],["ான்",-1,4],["னான்",15,1],["மின்",-1,1],["னென்",-1,1],["ேன்",-1,5],["னம்",-1,1],["பம்",-1,1],["ாம்",-1,5],["கும்",-1,1],["டும்",-1,5],["தும்",-1,1],["றும்",-1,1],["ெம்",-1,5],["ேம்",-1,5],["ோம்",-1,5],["ாய்",-1,5],["னர்",-1,1],["பர்",-1,1],["ீயர்",-1,5],["வர்",-1,1],["ார்",-1,5],["னார்",35,1],["மார்",35,1],["கொண்டிர்",-1,1],["னிர்",-1,5],["ீர்",-1,5],["னள்",-1,1],["பள்",-1,1],["வள்",-1,1],["ாள்",-1,5],["னாள்",44,1]];
static a_26 = [["கிற",-1,-1],["கின்ற",-1,-1],["ாநின்ற",-1,-1],["கிற்",-1,-1],["கின்ற்",-1,-1],["ாநின்ற்",-1,-1]];
}
export default TamilStemmer;
