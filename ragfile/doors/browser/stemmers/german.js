// Generated from german.sbl by Snowball 3.1.1 - https://snowballstem.org/; BSD, see LICENSE
import { Snowball } from "./snowball.js";
class GermanStemmer extends Snowball {
I_p2 = 0;
I_p1 = 0;
static g_v = new Set("aeiouyäöü");
static g_et_ending = new Set("Udfgklmnrstzä");
static g_s_ending = new Set("bdfghklmnrt");
static g_st_ending = new Set("bdfghklmnt");
r_prelude() {
let among_var, v_1, v_2, v_3, v_4, v_5;
v_1 = this.cursor;
while (true) {
v_2 = this.cursor;
lab0: {
while (true) {
v_3 = this.cursor;
lab1: {
if (!(this.in_grouping(GermanStemmer.g_v))) {
break lab1;
}
this.bra = this.cursor;
while (true) {
v_4 = this.cursor;
lab2: {
if ((this.cursor === this.limit) || (this.current[this.cursor] !== "u")) {
break lab2;
}
this.cursor += 1;
this.ket = this.cursor;
if (!(this.in_grouping(GermanStemmer.g_v))) {
break lab2;
}
this.slice_from("U");
break;
}
this.cursor = v_4;
if ((this.cursor === this.limit) || (this.current[this.cursor] !== "y")) {
break lab1;
}
this.cursor += 1;
this.ket = this.cursor;
if (!(this.in_grouping(GermanStemmer.g_v))) {
break lab1;
}
this.slice_from("Y");
break;
}
this.cursor = v_3;
break;
}
this.cursor = v_3;
if (this.cursor >= this.limit) {
break lab0;
}
this.cursor += 1;
}
continue;
}
this.cursor = v_2;
break;
}
this.cursor = v_1;
while (true) {
v_5 = this.cursor;
lab0: {
this.bra = this.cursor;
among_var = this.find_among(GermanStemmer.a_0);
this.ket = this.cursor;
if (among_var === 1) {
this.slice_from("ss");
} else {
if (among_var === 2) {
this.slice_from("ä");
} else {
if (among_var === 3) {
this.slice_from("ö");
} else {
if (among_var === 4) {
this.slice_from("ü");
} else {
if (among_var === 5) {
if (this.cursor >= this.limit) {
break lab0;
}
this.cursor += 1;
}
}
}
}
}
continue;
}
this.cursor = v_5;
break;
}
return true;
}
r_mark_regions() {
let I_x, v_1;
this.I_p1 = this.limit;
this.I_p2 = this.limit;
v_1 = this.cursor;
if (this.cursor + (3) > this.limit) {
return false;
}
this.cursor += 3;
I_x = this.cursor;
this.cursor = v_1;
if (!(this.go_out_grouping(GermanStemmer.g_v))) {
return false;
}
this.cursor += 1;
if (!(this.go_in_grouping(GermanStemmer.g_v))) {
return false;
}
this.cursor += 1;
this.I_p1 = this.cursor;
lab0: {
if (this.I_p1 >= I_x) {
break lab0;
}
this.I_p1 = I_x;
}
if (!(this.go_out_grouping(GermanStemmer.g_v))) {
return false;
}
this.cursor += 1;
if (!(this.go_in_grouping(GermanStemmer.g_v))) {
return false;
}
this.cursor += 1;
this.I_p2 = this.cursor;
return true;
}
r_postlude() {
let among_var, v_1;
while (true) {
v_1 = this.cursor;
lab0: {
this.bra = this.cursor;
among_var = this.find_among(GermanStemmer.a_1);
this.ket = this.cursor;
if (among_var === 1) {
this.slice_from("y");
} else {
if (among_var === 2) {
this.slice_from("u");
} else {
if (among_var === 3) {
this.slice_from("a");
} else {
if (among_var === 4) {
this.slice_from("o");
} else {
if (this.cursor >= this.limit) {
break lab0;
}
this.cursor += 1;
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
r_R1() {
return this.I_p1 <= this.cursor;
}
r_R2() {
return this.I_p2 <= this.cursor;
}
r_standard_suffix() {
let among_var, v_1, v_10, v_2, v_3, v_4, v_5, v_6, v_7, v_8, v_9;
v_1 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
among_var = this.find_among_b(GermanStemmer.a_2);
if (among_var === 0) {
break lab0;
}
this.bra = this.cursor;
if (!(this.r_R1())) {
break lab0;
}
if (among_var === 1) {
lab1: {
if (!(this.eq_s_b("syst"))) {
break lab1;
}
break lab0;
}
this.slice_del();
} else {
if (among_var === 2) {
this.slice_del();
} else {
if (among_var === 3) {
this.slice_del();
v_2 = this.limit - (this.cursor);
lab1: {
this.ket = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "s")) {
this.cursor = this.limit - (v_2);
break lab1;
}
this.cursor -= 1;
this.bra = this.cursor;
if (!(this.eq_s_b("nis"))) {
this.cursor = this.limit - (v_2);
break lab1;
}
this.slice_del();
}
} else {
if (among_var === 4) {
if (!(this.in_grouping_b(GermanStemmer.g_s_ending))) {
break lab0;
}
this.slice_del();
} else {
this.slice_from("l");
}
}
}
}
}
this.cursor = this.limit - (v_1);
v_3 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
among_var = this.find_among_b(GermanStemmer.a_4);
if (among_var === 0) {
break lab0;
}
this.bra = this.cursor;
if (!(this.r_R1())) {
break lab0;
}
if (among_var === 1) {
this.slice_del();
} else {
if (among_var === 2) {
if (!(this.in_grouping_b(GermanStemmer.g_st_ending))) {
break lab0;
}
if (this.cursor - (3) < this.limit_backward) {
break lab0;
}
this.cursor -= 3;
this.slice_del();
} else {
v_4 = this.limit - (this.cursor);
if (!(this.in_grouping_b(GermanStemmer.g_et_ending))) {
break lab0;
}
this.cursor = this.limit - (v_4);
v_5 = this.limit - (this.cursor);
lab1: {
if (this.find_among_b(GermanStemmer.a_3) === 0) {
break lab1;
}
break lab0;
}
this.cursor = this.limit - (v_5);
this.slice_del();
}
}
}
this.cursor = this.limit - (v_3);
v_6 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
among_var = this.find_among_b(GermanStemmer.a_6);
if (among_var === 0) {
break lab0;
}
this.bra = this.cursor;
if (!(this.r_R2())) {
break lab0;
}
if (among_var === 1) {
this.slice_del();
v_7 = this.limit - (this.cursor);
lab1: {
this.ket = this.cursor;
if (!(this.eq_s_b("ig"))) {
this.cursor = this.limit - (v_7);
break lab1;
}
this.bra = this.cursor;
lab2: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "e")) {
break lab2;
}
this.cursor -= 1;
this.cursor = this.limit - (v_7);
break lab1;
}
if (!(this.r_R2())) {
this.cursor = this.limit - (v_7);
break lab1;
}
this.slice_del();
}
} else {
if (among_var === 2) {
lab1: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "e")) {
break lab1;
}
this.cursor -= 1;
break lab0;
}
this.slice_del();
} else {
if (among_var === 3) {
this.slice_del();
v_8 = this.limit - (this.cursor);
lab1: {
this.ket = this.cursor;
while (true) {
lab2: {
if (!(this.eq_s_b("er"))) {
break lab2;
}
break;
}
if (!(this.eq_s_b("en"))) {
this.cursor = this.limit - (v_8);
break lab1;
}
break;
}
this.bra = this.cursor;
if (!(this.r_R1())) {
this.cursor = this.limit - (v_8);
break lab1;
}
this.slice_del();
}
} else {
this.slice_del();
v_9 = this.limit - (this.cursor);
lab1: {
this.ket = this.cursor;
if (this.find_among_b(GermanStemmer.a_5) === 0) {
this.cursor = this.limit - (v_9);
break lab1;
}
this.bra = this.cursor;
if (!(this.r_R2())) {
this.cursor = this.limit - (v_9);
break lab1;
}
this.slice_del();
}
}
}
}
}
this.cursor = this.limit - (v_6);
v_10 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if (this.find_among_b(GermanStemmer.a_7) === 0) {
break lab0;
}
this.bra = this.cursor;
if (this.cursor <= this.limit_backward) {
break lab0;
}
this.cursor -= 1;
if (this.cursor <= this.limit_backward) {
break lab0;
}
this.slice_del();
}
this.cursor = this.limit - (v_10);
return true;
}
_stem() {
let v_1, v_2, v_3;
v_1 = this.cursor;
this.r_prelude();
this.cursor = v_1;
v_2 = this.cursor;
this.r_mark_regions();
this.cursor = v_2;
this.limit_backward = this.cursor;
this.cursor = this.limit;
this.r_standard_suffix();
this.cursor = this.limit_backward;
v_3 = this.cursor;
this.r_postlude();
this.cursor = v_3;
return true;
}
static a_0 = [["",-1,5],["ae",0,2],["oe",0,3],["qu",0,-1],["ue",0,4],["ß",0,1]];
static a_1 = [["",-1,5],["U",0,2],["Y",0,1],["ä",0,3],["ö",0,4],["ü",0,2]];
static a_2 = [["e",-1,3],["em",-1,1],["en",-1,3],["erinnen",2,2],["erin",-1,2],["ln",-1,5],["ern",-1,2],["er",-1,2],["s",-1,4],["es",8,3],["lns",8,5]];
static a_3 = [["tick",-1,-1],["plan",-1,-1],["geordn",-1,-1],["intern",-1,-1],["tr",-1,-1]];
static a_4 = [["en",-1,1],["er",-1,1],["et",-1,3],["st",-1,2],["est",3,1]];
static a_5 = [["ig",-1,1],["lich",-1,1]];
static a_6 = [["end",-1,1],["ig",-1,2],["ung",-1,1],["lich",-1,3],["isch",-1,2],["ik",-1,2],["heit",-1,3],["keit",-1,4]];
static a_7 = [["'",-1,1],["'sch",-1,1],["'s",-1,1]];
}
export default GermanStemmer;
