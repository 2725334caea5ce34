// Generated from persian.sbl by Snowball 3.1.1 - https://snowballstem.org/; BSD, see LICENSE
import { Snowball } from "./snowball.js";
class PersianStemmer extends Snowball {
I_p1 = 0;
B_remove_verb_person_endings = false;
B_saw_present_prefix = false;
r_Normalize_Characters() {
let among_var, v_1;
while (true) {
v_1 = this.cursor;
lab0: {
this.bra = this.cursor;
among_var = this.find_among(PersianStemmer.a_0);
this.ket = this.cursor;
if (among_var === 1) {
this.slice_from("ک");
} else {
if (among_var === 2) {
this.slice_from("ی");
} else {
if (among_var === 3) {
this.slice_from("ه");
} else {
if (among_var === 4) {
this.slice_from("ا");
} else {
if (among_var === 5) {
this.slice_from("و");
} else {
if (among_var === 6) {
this.slice_del();
} else {
if (this.cursor >= this.limit) {
break lab0;
}
this.cursor += 1;
}
}
}
}
}
}
continue;
}
this.cursor = v_1;
break;
}
return true;
}
r_Prefixes() {
let among_var;
this.bra = this.cursor;
among_var = this.find_among(PersianStemmer.a_1);
if (among_var === 0) {
return false;
}
this.ket = this.cursor;
if (among_var === 1) {
if (this.cursor + (2) > this.limit) {
return false;
}
this.cursor += 2;
this.B_saw_present_prefix = true;
} else {
if (this.cursor + (2) > this.limit) {
return false;
}
this.cursor += 2;
this.slice_del();
this.B_saw_present_prefix = true;
}
return true;
}
r_Delete_ZWNJ() {
let v_1, v_2;
while (true) {
v_1 = this.cursor;
lab0: {
while (true) {
v_2 = this.cursor;
lab1: {
this.bra = this.cursor;
if ((this.cursor === this.limit) || (this.current[this.cursor] !== "‌")) {
break lab1;
}
this.cursor += 1;
this.ket = this.cursor;
this.slice_del();
this.cursor = v_2;
break;
}
this.cursor = v_2;
if (this.cursor >= this.limit) {
break lab0;
}
this.cursor += 1;
}
continue;
}
this.cursor = v_1;
break;
}
return true;
}
r_R1() {
return this.I_p1 <= this.cursor;
}
r_Protect_Lexical_AN() {
let v_1, v_2;
v_1 = this.limit - (this.cursor);
lab0: {
if (!(this.r_AN_Exception())) {
break lab0;
}
return false;
}
this.cursor = this.limit - (v_1);
v_2 = this.limit - (this.cursor);
lab0: {
if (this.find_among_b(PersianStemmer.a_2) === 0) {
break lab0;
}
return false;
}
this.cursor = this.limit - (v_2);
return true;
}
r_AN_Exception() {
if (this.find_among_b(PersianStemmer.a_3) === 0) {
return false;
}
if (this.cursor > this.limit_backward) {
return false;
}
return true;
}
r_Irregular_Noun() {
let among_var;
this.ket = this.cursor;
among_var = this.find_among_b(PersianStemmer.a_4);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
this.slice_from(PersianStemmer.as_4[among_var - (1)]);
return true;
}
r_Stem_Noun_or_Adjective() {
let among_var, v_1, v_3;
while (true) {
v_1 = this.limit - (this.cursor);
lab0: {
if (!(this.r_Irregular_Noun())) {
break lab0;
}
break;
}
this.cursor = this.limit - (v_1);
if (this.cursor < this.I_p1) {
return false;
}
v_3 = this.limit_backward;
this.limit_backward = this.I_p1;
this.ket = this.cursor;
among_var = this.find_among_b(PersianStemmer.a_5);
if (among_var === 0) {
this.limit_backward = v_3;
return false;
}
this.bra = this.cursor;
if (among_var === 1) {
this.slice_del();
} else {
if (this.cursor <= this.limit_backward) {
this.limit_backward = v_3;
return false;
}
this.slice_del();
}
this.limit_backward = v_3;
break;
}
return true;
}
r_Stem_Verb() {
let among_var, v_1;
while (true) {
v_1 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if (this.find_among_b(PersianStemmer.a_6) === 0) {
break lab0;
}
this.bra = this.cursor;
if (!(this.r_R1())) {
break lab0;
}
this.slice_del();
break;
}
this.cursor = this.limit - (v_1);
this.ket = this.cursor;
among_var = this.find_among_b(PersianStemmer.a_7);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
if (among_var === 1) {
if (!(this.B_remove_verb_person_endings)) {
return false;
}
if (!(this.r_R1())) {
return false;
}
this.slice_del();
} else {
if (among_var === 2) {
this.slice_from("رفت");
} else {
if (among_var === 3) {
if (!(this.r_R1())) {
return false;
}
this.slice_del();
this.B_remove_verb_person_endings = true;
} else {
if (among_var === 4) {
if (this.cursor <= this.limit_backward) {
return false;
}
this.slice_from("د");
this.B_remove_verb_person_endings = true;
} else {
if (this.cursor <= this.limit_backward) {
return false;
}
this.slice_from("ت");
this.B_remove_verb_person_endings = true;
}
}
}
}
break;
}
return true;
}
_stem() {
let v_1, v_2, v_3, v_4, v_5, v_6, v_7;
this.B_saw_present_prefix = false;
v_1 = this.cursor;
this.r_Normalize_Characters();
this.cursor = v_1;
v_2 = this.cursor;
this.r_Prefixes();
this.cursor = v_2;
v_3 = this.cursor;
this.r_Delete_ZWNJ();
this.cursor = v_3;
this.I_p1 = this.limit;
v_4 = this.cursor;
lab0: {
if (this.cursor + (3) > this.limit) {
break lab0;
}
this.cursor += 3;
this.I_p1 = this.cursor;
}
this.cursor = v_4;
this.limit_backward = this.cursor;
this.cursor = this.limit;
while (true) {
v_5 = this.limit - (this.cursor);
lab0: {
v_6 = this.limit - (this.cursor);
this.B_remove_verb_person_endings = false;
lab1: {
if (!(this.B_saw_present_prefix)) {
break lab1;
}
this.B_remove_verb_person_endings = true;
}
if (!(this.r_Protect_Lexical_AN())) {
break lab0;
}
while (true) {
v_7 = this.limit - (this.cursor);
lab1: {
if (!(this.r_Stem_Noun_or_Adjective())) {
break lab1;
}
break;
}
this.cursor = this.limit - (v_7);
if (!(this.r_Stem_Verb())) {
break lab0;
}
break;
}
this.cursor = this.limit - (v_6);
continue;
}
this.cursor = this.limit - (v_5);
break;
}
this.cursor = this.limit_backward;
return true;
}
static a_0 = [["",-1,7],[" ",0,6],["أ",0,4],["ؤ",0,5],["إ",0,4],["ئ",0,2],["ة",0,3],["ك",0,1],["ي",0,2],["ہ",0,3],["‍",0,6]];
static a_1 = [["می‌",-1,2],["نمی‌",-1,1]];
static a_2 = [["ستان",-1,-1],["ران",-1,-1],["سان",-1,-1],["وان",-1,-1]];
static a_3 = [["آذربایجان",-1,1],["همدان",-1,1],["خاندان",-1,1],["زندان",-1,1],["میزان",-1,1],["درخشان",-1,1],["آتشفشان",-1,1],["نشان",-1,1],["کهکشان",-1,1],["ایشان",-1,1],["پریشان",-1,1],["سلطان",-1,1],["گیلان",-1,1],["ساختمان",-1,1],["رمان",-1,1],["درمان",14,1],["قهرمان",14,1],["کرمان",14,1],["سازمان",-1,1],["همزمان",-1,1],["آسمان",-1,1],["آلمان",-1,1],["مسلمان",-1,1],["ایمان",-1,1],["سلیمان",-1,1],["پیمان",-1,1],["لبنان",-1,1],["یونان",-1,1],["اصفهان",-1,1],["امکان",-1,1],["پایان",-1,1],["بیان",-1,1],["جریان",-1,1]];
static a_4 = [["اساتید",-1,2],["اخبار",-1,1]];
static as_4 = ["خبر","استاد"];
static a_5 = [["ها",-1,1],["ات",-1,1],["یت",-1,1],["مند",-1,1],["وار",-1,1],["گار",-1,1],["تر",-1,2],["اش",-1,1],["ام",-1,1],["ان",-1,1],["بان",9,1],["گان",9,1],["یان",9,1],["ین",-1,1],["ترین",13,1],["گاه",-1,1],["انه",-1,1],["ناک",-1,1],["های",-1,1],["انی",-1,1],["گی",-1,1],["یی",-1,1]];
static a_6 = [["است",-1,1],["اند",-1,1],["ید",-1,1],["اید",2,1],["اس",-1,1],["یم",-1,1],["ایم",5,1],["ای",-1,1]];
static a_7 = [["د",-1,1],["اند",0,1],["رفتاند",1,2],["ید",0,1],["رفتید",3,2],["م",-1,1],["ام",5,1],["رفتم",5,2],["یم",5,1],["رفتیم",8,2],["ان",-1,3],["ته",-1,5],["ده",-1,4],["نده",12,3],["رفتی",-1,2]];
}
export default PersianStemmer;
