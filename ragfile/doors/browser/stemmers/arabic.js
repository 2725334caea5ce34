// Generated from arabic.sbl by Snowball 3.1.1 - https://snowballstem.org/; BSD, see LICENSE
import { Snowball } from "./snowball.js";
class ArabicStemmer extends Snowball {
B_is_defined = false;
B_is_verb = false;
B_is_noun = false;
r_Normalize_pre() {
let among_var, v_1, v_2, v_3;
v_1 = this.cursor;
lab0: {
while (true) {
v_2 = this.cursor;
lab1: {
while (true) {
v_3 = this.cursor;
lab2: {
this.bra = this.cursor;
among_var = this.find_among(ArabicStemmer.a_0);
if (among_var === 0) {
break lab2;
}
this.ket = this.cursor;
this.slice_from(ArabicStemmer.as_0[among_var - (1)]);
break;
}
this.cursor = v_3;
if (this.cursor >= this.limit) {
break lab1;
}
this.cursor += 1;
break;
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
r_Normalize_post() {
let among_var, v_1, v_2, v_3, v_4;
v_1 = this.cursor;
lab0: {
this.limit_backward = this.cursor;
this.cursor = this.limit;
this.ket = this.cursor;
if (this.find_among_b(ArabicStemmer.a_1) === 0) {
break lab0;
}
this.bra = this.cursor;
this.slice_from("ء");
this.cursor = this.limit_backward;
}
this.cursor = v_1;
v_2 = this.cursor;
lab0: {
while (true) {
v_3 = this.cursor;
lab1: {
while (true) {
v_4 = this.cursor;
lab2: {
this.bra = this.cursor;
among_var = this.find_among(ArabicStemmer.a_2);
if (among_var === 0) {
break lab2;
}
this.ket = this.cursor;
this.slice_from(ArabicStemmer.as_2[among_var - (1)]);
break;
}
this.cursor = v_4;
if (this.cursor >= this.limit) {
break lab1;
}
this.cursor += 1;
break;
}
continue;
}
this.cursor = v_3;
break;
}
}
this.cursor = v_2;
return true;
}
r_Checks1() {
let among_var;
this.bra = this.cursor;
among_var = this.find_among(ArabicStemmer.a_3);
if (among_var === 0) {
return false;
}
this.ket = this.cursor;
if (among_var === 1) {
if (this.current.length <= 4) {
return false;
}
this.B_is_noun = true;
this.B_is_verb = false;
this.B_is_defined = true;
} else {
if (this.current.length <= 3) {
return false;
}
this.B_is_noun = true;
this.B_is_verb = false;
this.B_is_defined = true;
}
return true;
}
r_Prefix_Step1() {
let among_var;
this.bra = this.cursor;
among_var = this.find_among(ArabicStemmer.a_4);
if (among_var === 0) {
return false;
}
this.ket = this.cursor;
if (among_var === 1) {
if (this.current.length <= 3) {
return false;
}
this.slice_from("أ");
} else {
if (among_var === 2) {
if (this.current.length <= 3) {
return false;
}
this.slice_from("آ");
} else {
if (among_var === 3) {
if (this.current.length <= 3) {
return false;
}
this.slice_from("ا");
} else {
if (this.current.length <= 3) {
return false;
}
this.slice_from("إ");
}
}
}
return true;
}
r_Prefix_Step2() {
this.bra = this.cursor;
if (this.find_among(ArabicStemmer.a_5) === 0) {
return false;
}
this.ket = this.cursor;
if (this.current.length <= 3) {
return false;
}
lab0: {
if ((this.cursor === this.limit) || (this.current[this.cursor] !== "ا")) {
break lab0;
}
this.cursor += 1;
return false;
}
this.slice_del();
return true;
}
r_Prefix_Step3a_Noun() {
let among_var;
this.bra = this.cursor;
among_var = this.find_among(ArabicStemmer.a_6);
if (among_var === 0) {
return false;
}
this.ket = this.cursor;
if (among_var === 1) {
if (this.current.length <= 5) {
return false;
}
this.slice_del();
} else {
if (this.current.length <= 4) {
return false;
}
this.slice_del();
}
return true;
}
r_Prefix_Step3b_Noun() {
let among_var;
this.bra = this.cursor;
among_var = this.find_among(ArabicStemmer.a_7);
if (among_var === 0) {
return false;
}
this.ket = this.cursor;
if (among_var === 1) {
if (this.current.length <= 3) {
return false;
}
this.slice_del();
} else {
if (among_var === 2) {
if (this.current.length <= 3) {
return false;
}
this.slice_from("ب");
} else {
if (among_var === 3) {
if (this.current.length <= 3) {
return false;
}
this.slice_from("ك");
}
}
}
return true;
}
r_Prefix_Step3_Verb() {
let among_var;
this.bra = this.cursor;
among_var = this.find_among(ArabicStemmer.a_8);
if (among_var === 0) {
return false;
}
this.ket = this.cursor;
if (among_var === 1) {
if (this.current.length <= 4) {
return false;
}
this.slice_from("ي");
} else {
if (among_var === 2) {
if (this.current.length <= 4) {
return false;
}
this.slice_from("ت");
} else {
if (among_var === 3) {
if (this.current.length <= 4) {
return false;
}
this.slice_from("ن");
} else {
if (this.current.length <= 4) {
return false;
}
this.slice_from("أ");
}
}
}
return true;
}
r_Prefix_Step4_Verb() {
this.bra = this.cursor;
if (this.find_among(ArabicStemmer.a_9) === 0) {
return false;
}
this.ket = this.cursor;
if (this.current.length <= 4) {
return false;
}
this.B_is_verb = true;
this.B_is_noun = false;
this.slice_from("است");
return true;
}
r_Suffix_Noun_Step1a() {
let among_var;
this.ket = this.cursor;
among_var = this.find_among_b(ArabicStemmer.a_10);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
if (among_var === 1) {
if (this.current.length < 4) {
return false;
}
this.slice_del();
} else {
if (among_var === 2) {
if (this.current.length < 5) {
return false;
}
this.slice_del();
} else {
if (this.current.length < 6) {
return false;
}
this.slice_del();
}
}
return true;
}
r_Suffix_Noun_Step1b() {
this.ket = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "ن")) {
return false;
}
this.cursor -= 1;
this.bra = this.cursor;
if (this.current.length <= 5) {
return false;
}
this.slice_del();
return true;
}
r_Suffix_Noun_Step2a() {
this.ket = this.cursor;
if (this.find_among_b(ArabicStemmer.a_11) === 0) {
return false;
}
this.bra = this.cursor;
if (this.current.length <= 4) {
return false;
}
this.slice_del();
return true;
}
r_Suffix_Noun_Step2b() {
this.ket = this.cursor;
if (!(this.eq_s_b("ات"))) {
return false;
}
this.bra = this.cursor;
if (this.current.length < 5) {
return false;
}
this.slice_del();
return true;
}
r_Suffix_Noun_Step2c1() {
this.ket = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "ت")) {
return false;
}
this.cursor -= 1;
this.bra = this.cursor;
if (this.current.length < 4) {
return false;
}
this.slice_del();
return true;
}
r_Suffix_Noun_Step2c2() {
this.ket = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "ة")) {
return false;
}
this.cursor -= 1;
this.bra = this.cursor;
if (this.current.length < 4) {
return false;
}
this.slice_del();
return true;
}
r_Suffix_Noun_Step3() {
this.ket = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "ي")) {
return false;
}
this.cursor -= 1;
this.bra = this.cursor;
if (this.current.length < 3) {
return false;
}
this.slice_del();
return true;
}
r_Suffix_Verb_Step1() {
let among_var;
this.ket = this.cursor;
among_var = this.find_among_b(ArabicStemmer.a_12);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
if (among_var === 1) {
if (this.current.length < 4) {
return false;
}
this.slice_del();
} else {
if (among_var === 2) {
if (this.current.length < 5) {
return false;
}
this.slice_del();
} else {
if (this.current.length < 6) {
return false;
}
this.slice_del();
}
}
return true;
}
r_Suffix_Verb_Step2a() {
let among_var;
this.ket = this.cursor;
among_var = this.find_among_b(ArabicStemmer.a_13);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
if (among_var === 1) {
if (this.current.length < 4) {
return false;
}
this.slice_del();
} else {
if (among_var === 2) {
if (this.current.length < 5) {
return false;
}
this.slice_del();
} else {
if (among_var === 3) {
if (this.current.length <= 5) {
return false;
}
this.slice_del();
} else {
if (this.current.length < 6) {
return false;
}
this.slice_del();
}
}
}
return true;
}
r_Suffix_Verb_Step2b() {
this.ket = this.cursor;
if (this.find_among_b(ArabicStemmer.a_14) === 0) {
return false;
}
this.bra = this.cursor;
if (this.current.length < 5) {
return false;
}
this.slice_del();
return true;
}
r_Suffix_Verb_Step2c() {
let among_var;
this.ket = this.cursor;
among_var = this.find_among_b(ArabicStemmer.a_15);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
if (among_var === 1) {
if (this.current.length < 4) {
return false;
}
this.slice_del();
} else {
if (this.current.length < 6) {
return false;
}
this.slice_del();
}
return true;
}
r_Suffix_All_alef_maqsura() {
this.ket = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "ى")) {
return false;
}
this.cursor -= 1;
this.bra = this.cursor;
this.slice_from("ي");
return true;
}
_stem() {
let v_1, v_10, v_11, v_12, v_13, v_14, v_15, v_16, v_2, v_3, v_4, v_5, v_6, v_7, v_8, v_9;
this.B_is_noun = true;
this.B_is_verb = true;
this.B_is_defined = false;
v_1 = this.cursor;
this.r_Checks1();
this.cursor = v_1;
this.r_Normalize_pre();
this.limit_backward = this.cursor;
this.cursor = this.limit;
v_2 = this.limit - (this.cursor);
lab0: {
while (true) {
v_3 = this.limit - (this.cursor);
lab1: {
if (!(this.B_is_verb)) {
break lab1;
}
while (true) {
v_4 = this.limit - (this.cursor);
lab2: {
v_5 = 1;
while (true) {
v_6 = this.limit - (this.cursor);
lab3: {
if (!(this.r_Suffix_Verb_Step1())) {
break lab3;
}
v_5 -= 1;
continue;
}
this.cursor = this.limit - (v_6);
break;
}
if (v_5 > 0) {
break lab2;
}
while (true) {
v_7 = this.limit - (this.cursor);
lab3: {
if (!(this.r_Suffix_Verb_Step2a())) {
break lab3;
}
break;
}
this.cursor = this.limit - (v_7);
lab3: {
if (!(this.r_Suffix_Verb_Step2c())) {
break lab3;
}
break;
}
this.cursor = this.limit - (v_7);
if (this.cursor <= this.limit_backward) {
break lab2;
}
this.cursor -= 1;
break;
}
break;
}
this.cursor = this.limit - (v_4);
lab2: {
if (!(this.r_Suffix_Verb_Step2b())) {
break lab2;
}
break;
}
this.cursor = this.limit - (v_4);
if (!(this.r_Suffix_Verb_Step2a())) {
break lab1;
}
break;
}
break;
}
this.cursor = this.limit - (v_3);
lab1: {
if (!(this.B_is_noun)) {
break lab1;
}
v_8 = this.limit - (this.cursor);
lab2: {
while (true) {
v_9 = this.limit - (this.cursor);
lab3: {
if (!(this.r_Suffix_Noun_Step2c2())) {
break lab3;
}
break;
}
this.cursor = this.limit - (v_9);
lab3: {
if (this.B_is_defined) {
break lab3;
}
if (!(this.r_Suffix_Noun_Step1a())) {
break lab3;
}
while (true) {
v_10 = this.limit - (this.cursor);
lab4: {
if (!(this.r_Suffix_Noun_Step2a())) {
break lab4;
}
break;
}
this.cursor = this.limit - (v_10);
lab4: {
if (!(this.r_Suffix_Noun_Step2b())) {
break lab4;
}
break;
}
this.cursor = this.limit - (v_10);
lab4: {
if (!(this.r_Suffix_Noun_Step2c1())) {
break lab4;
}
break;
}
this.cursor = this.limit - (v_10);
if (this.cursor <= this.limit_backward) {
break lab3;
}
this.cursor -= 1;
break;
}
break;
}
this.cursor = this.limit - (v_9);
lab3: {
if (!(this.r_Suffix_Noun_Step1b())) {
break lab3;
}
while (true) {
v_11 = this.limit - (this.cursor);
lab4: {
if (!(this.r_Suffix_Noun_Step2a())) {
break lab4;
}
break;
}
this.cursor = this.limit - (v_11);
lab4: {
if (!(this.r_Suffix_Noun_Step2b())) {
break lab4;
}
break;
}
this.cursor = this.limit - (v_11);
if (!(this.r_Suffix_Noun_Step2c1())) {
break lab3;
}
break;
}
break;
}
this.cursor = this.limit - (v_9);
lab3: {
if (this.B_is_defined) {
break lab3;
}
if (!(this.r_Suffix_Noun_Step2a())) {
break lab3;
}
break;
}
this.cursor = this.limit - (v_9);
if (!(this.r_Suffix_Noun_Step2b())) {
this.cursor = this.limit - (v_8);
break lab2;
}
break;
}
}
if (!(this.r_Suffix_Noun_Step3())) {
break lab1;
}
break;
}
this.cursor = this.limit - (v_3);
if (!(this.r_Suffix_All_alef_maqsura())) {
break lab0;
}
break;
}
}
this.cursor = this.limit - (v_2);
this.cursor = this.limit_backward;
v_12 = this.cursor;
lab0: {
v_13 = this.cursor;
lab1: {
if (!(this.r_Prefix_Step1())) {
this.cursor = v_13;
break lab1;
}
}
v_14 = this.cursor;
lab1: {
if (!(this.r_Prefix_Step2())) {
this.cursor = v_14;
break lab1;
}
}
while (true) {
v_15 = this.cursor;
lab1: {
if (!(this.r_Prefix_Step3a_Noun())) {
break lab1;
}
break;
}
this.cursor = v_15;
lab1: {
if (!(this.B_is_noun)) {
break lab1;
}
if (!(this.r_Prefix_Step3b_Noun())) {
break lab1;
}
break;
}
this.cursor = v_15;
if (!(this.B_is_verb)) {
break lab0;
}
v_16 = this.cursor;
lab1: {
if (!(this.r_Prefix_Step3_Verb())) {
this.cursor = v_16;
break lab1;
}
}
if (!(this.r_Prefix_Step4_Verb())) {
break lab0;
}
break;
}
}
this.cursor = v_12;
this.r_Normalize_post();
return true;
}
static a_0 = [["ـ",-1,1],["ً",-1,1],["ٌ",-1,1],["ٍ",-1,1],["َ",-1,1],["ُ",-1,1],["ِ",-1,1],["ّ",-1,1],["ْ",-1,1],["٠",-1,2],["١",-1,3],["٢",-1,4],["٣",-1,5],["٤",-1,6],["٥",-1,7],["٦",-1,8],["٧",-1,9],["٨",-1,10],["٩",-1,11],["ﺀ",-1,12],["ﺁ",-1,16],["ﺂ",-1,16],["ﺃ",-1,13],["ﺄ",-1,13],["ﺅ",-1,17],["ﺆ",-1,17],["ﺇ",-1,14],["ﺈ",-1,14],["ﺉ",-1,15],["ﺊ",-1,15],["ﺋ",-1,15],["ﺌ",-1,15],["ﺍ",-1,18],["ﺎ",-1,18],["ﺏ",-1,19],["ﺐ",-1,19],["ﺑ",-1,19],["ﺒ",-1,19],["ﺓ",-1,20],["ﺔ",-1,20],["ﺕ",-1,21],["ﺖ",-1,21],["ﺗ",-1,21],["ﺘ",-1,21],["ﺙ",-1,22],["ﺚ",-1,22],["ﺛ",-1,22],["ﺜ",-1,22],["ﺝ",-1,23],["ﺞ",-1,23],["ﺟ",-1,23],["ﺠ",-1,23],["ﺡ",-1,24],["ﺢ",-1,24],["ﺣ",-1,24],["ﺤ",-1,24],["ﺥ",-1,25],["ﺦ",-1,25],["ﺧ",-1,25],["ﺨ",-1,25],["ﺩ",-1,26],["ﺪ",-1,26],["ﺫ",-1,27],["ﺬ",-1,27],["ﺭ",-1,28],["ﺮ",-1,28],["ﺯ",-1,29],["ﺰ",-1,29],["ﺱ",-1,30],["ﺲ",-1,30],["ﺳ",-1,30],["ﺴ",-1,30],["ﺵ",-1,31],["ﺶ",-1,31],["ﺷ",-1,31],["ﺸ",-1,31],["ﺹ",-1,32],["ﺺ",-1,32],["ﺻ",-1,32],["ﺼ",-1,32],["ﺽ",-1,33],["ﺾ",-1,33],["ﺿ",-1,33],["ﻀ",-1,33],["ﻁ",-1,34],["ﻂ",-1,34],["ﻃ",-1,34],["ﻄ",-1,34],["ﻅ",-1,35],["ﻆ",-1,35],["ﻇ",-1,35],["ﻈ",-1,35],["ﻉ",-1,36],["ﻊ",-1,36],["ﻋ",-1,36],["ﻌ",-1,36],["ﻍ",-1,37],["ﻎ",-1,37],["ﻏ",-1,37],["ﻐ",-1,37],["ﻑ",-1,38],["ﻒ",-1,38],["ﻓ",-1,38],["ﻔ",-1,38],["ﻕ",-1,39],["ﻖ",-1,39],["ﻗ",-1,39],["ﻘ",-1,39],["ﻙ",-1,40],["ﻚ",-1,40],["ﻛ",-1,40],["ﻜ",-1,40],["ﻝ",-1,41],["ﻞ",-1,41],["ﻟ",-1,41],["ﻠ",-1,41],["ﻡ",-1,42],["ﻢ",-1,42],["ﻣ",-1,42],["ﻤ",-1,42],["ﻥ",-1,43],["ﻦ",-1,43],["ﻧ",-1,43],["ﻨ",-1,43],["ﻩ",-1,44],["ﻪ",-1,44],["ﻫ",-1,44],["ﻬ",-1,44],["ﻭ",-1,45],["ﻮ",-1,45],["ﻯ",-1,46],["ﻰ",-1,46],["ﻱ",-1,47],["ﻲ",-1,47],["ﻳ",-1,47],["ﻴ",-1,47],["ﻵ",-1,51],["ﻶ",-1,51],["ﻷ",-1,49],["ﻸ",-1,49],["ﻹ",-1,50],["ﻺ",-1,50],["ﻻ",-1,48],["ﻼ",-1,48]];
static as_0 = ["","0","1","2","3","4","5","6","7","8","9","ء","أ","إ","ئ","آ","ؤ","ا","ب","ة","ت","ث","ج","ح","خ","د","ذ","ر","ز","س","ش","ص","ض","ط","ظ","ع","غ","ف","ق","ك","ل","م","ن","ه","و","ى","ي","لا","لأ","لإ","لآ"];
static a_1 = [["آ",-1,1],["أ",-1,1],["ؤ",-1,1],["إ",-1,1],["ئ",-1,1]];
static a_2 = [["آ",-1,1],["أ",-1,1],["ؤ",-1,2],["إ",-1,1],["ئ",-1,3]];
static as_2 = ["ا","و","ي"];
static a_3 = [["ال",-1,2],["بال",-1,1],["كال",-1,1],["لل",-1,2]];
static a_4 = [["أآ",-1,2],["أأ",-1,1],["أؤ",-1,1],["أإ",-1,4],["أا",-1,3]];
static a_5 = [["ف",-1,1],["و",-1,1]];
static a_6 = [["ال",-1,2],["بال",-1,1],["كال",-1,1],["لل",-1,2]];
static a_7 = [["ب",-1,1],["با",0,-1],["بب",0,2],["كك",-1,3]];
static a_8 = [["سأ",-1,4],["ست",-1,2],["سن",-1,3],["سي",-1,1]];
static a_9 = [["تست",-1,1],["نست",-1,1],["يست",-1,1]];
static a_10 = [["كما",-1,3],["هما",-1,3],["نا",-1,2],["ها",-1,2],["ك",-1,1],["كم",-1,2],["هم",-1,2],["هن",-1,2],["ه",-1,1],["ي",-1,1]];
static a_11 = [["ا",-1,1],["و",-1,1],["ي",-1,1]];
static a_12 = [["كما",-1,3],["هما",-1,3],["نا",-1,2],["ها",-1,2],["ك",-1,1],["كم",-1,2],["هم",-1,2],["كن",-1,2],["هن",-1,2],["ه",-1,1],["كمو",-1,3],["ني",-1,2]];
static a_13 = [["ا",-1,1],["تا",0,2],["تما",0,4],["نا",0,2],["ت",-1,1],["ن",-1,1],["ان",5,3],["تن",5,2],["ون",5,3],["ين",5,3],["ي",-1,1]];
static a_14 = [["وا",-1,1],["تم",-1,1]];
static a_15 = [["و",-1,1],["تمو",0,2]];
}
export default ArabicStemmer;
