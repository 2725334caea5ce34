// Generated from norwegian.sbl by Snowball 3.1.1 - https://snowballstem.org/; BSD, see LICENSE
import { Snowball } from "./snowball.js";
class NorwegianStemmer extends Snowball {
I_p1 = 0;
static g_v = new Set("aeiouyåæêòóôø");
static g_s_ending = new Set("bcdfghjlmnoptvyz");
r_mark_regions() {
let v_1, v_2, v_3;
this.I_p1 = this.limit;
v_1 = this.cursor;
lab0: {
while (true) {
v_2 = this.cursor;
lab1: {
while (true) {
lab2: {
if ((this.cursor === this.limit) || (this.current[this.cursor] !== "'")) {
break lab2;
}
this.cursor += 1;
break;
}
if (this.cursor >= this.limit) {
break lab1;
}
this.cursor += 1;
}
break;
}
this.cursor = v_2;
if (!(this.go_out_grouping(NorwegianStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
if (!(this.go_in_grouping(NorwegianStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
break;
}
this.I_p1 = this.cursor;
}
this.cursor = v_1;
v_3 = this.cursor;
if (this.cursor + (3) > this.limit) {
return false;
}
this.cursor += 3;
lab0: {
if (this.I_p1 >= this.cursor) {
break lab0;
}
this.I_p1 = this.cursor;
}
this.cursor = v_3;
return true;
}
r_main_suffix() {
let among_var, v_2, v_3;
if (this.cursor < this.I_p1) {
return false;
}
v_2 = this.limit_backward;
this.limit_backward = this.I_p1;
this.ket = this.cursor;
among_var = this.find_among_b(NorwegianStemmer.a_1);
if (among_var === 0) {
this.limit_backward = v_2;
return false;
}
this.bra = this.cursor;
this.limit_backward = v_2;
if (among_var === 1) {
this.slice_del();
} else {
if (among_var === 2) {
among_var = this.find_among_b(NorwegianStemmer.a_0);
if (among_var === 1) {
this.slice_del();
}
} else {
if (among_var === 3) {
while (true) {
v_3 = this.limit - (this.cursor);
lab0: {
if (!(this.in_grouping_b(NorwegianStemmer.g_s_ending))) {
break lab0;
}
break;
}
this.cursor = this.limit - (v_3);
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "r")) {
break lab0;
}
this.cursor -= 1;
lab1: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "e")) {
break lab1;
}
this.cursor -= 1;
break lab0;
}
break;
}
this.cursor = this.limit - (v_3);
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "k")) {
return false;
}
this.cursor -= 1;
if (!(this.out_grouping_b(NorwegianStemmer.g_v))) {
return false;
}
break;
}
this.slice_del();
} else {
this.slice_from("er");
}
}
}
return true;
}
r_consonant_pair() {
let v_1, v_3;
v_1 = this.limit - (this.cursor);
if (this.cursor < this.I_p1) {
return false;
}
v_3 = this.limit_backward;
this.limit_backward = this.I_p1;
this.ket = this.cursor;
if (this.find_among_b(NorwegianStemmer.a_2) === 0) {
this.limit_backward = v_3;
return false;
}
this.bra = this.cursor;
this.limit_backward = v_3;
this.cursor = this.limit - (v_1);
if (this.cursor <= this.limit_backward) {
return false;
}
this.cursor -= 1;
this.bra = this.cursor;
this.slice_del();
return true;
}
r_other_suffix() {
let v_2;
if (this.cursor < this.I_p1) {
return false;
}
v_2 = this.limit_backward;
this.limit_backward = this.I_p1;
this.ket = this.cursor;
if (this.find_among_b(NorwegianStemmer.a_3) === 0) {
this.limit_backward = v_2;
return false;
}
this.bra = this.cursor;
this.limit_backward = v_2;
this.slice_del();
return true;
}
_stem() {
let v_1, v_2, v_3;
if (!(this.r_mark_regions())) {
return false;
}
this.limit_backward = this.cursor;
this.cursor = this.limit;
v_1 = this.limit - (this.cursor);
this.r_main_suffix();
this.cursor = this.limit - (v_1);
v_2 = this.limit - (this.cursor);
this.r_consonant_pair();
this.cursor = this.limit - (v_2);
v_3 = this.limit - (this.cursor);
this.r_other_suffix();
this.cursor = this.limit - (v_3);
this.ket = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "'")) {
return false;
}
this.cursor -= 1;
this.bra = this.cursor;
this.slice_del();
this.cursor = this.limit_backward;
return true;
}
static a_0 = [["",-1,1],["ind",0,-1],["kk",0,-1],["nk",0,-1],["amm",0,-1],["omm",0,-1],["kap",0,-1],["skap",6,1],["pp",0,-1],["lt",0,-1],["ast",0,-1],["øst",0,-1],["v",0,-1],["hav",12,1],["giv",12,1]];
static a_1 = [["a",-1,1],["e",-1,1],["ede",1,1],["ande",1,1],["ende",1,1],["ane",1,1],["ene",1,1],["hetene",6,1],["erte",1,4],["en",-1,1],["heten",9,1],["ar",-1,1],["er",-1,1],["heter",12,1],["s",-1,3],["as",14,1],["es",14,1],["edes",16,1],["endes",16,1],["enes",16,1],["hetenes",19,1],["ens",14,1],["hetens",21,1],["ers",14,2],["ets",14,1],["et",-1,1],["het",25,1],["ert",-1,4],["ast",-1,1]];
static a_2 = [["dt",-1,-1],["vt",-1,-1]];
static a_3 = [["leg",-1,1],["eleg",0,1],["ig",-1,1],["eig",2,1],["lig",2,1],["elig",4,1],["els",-1,1],["lov",-1,1],["elov",7,1],["slov",7,1],["hetslov",9,1]];
}
export default NorwegianStemmer;
