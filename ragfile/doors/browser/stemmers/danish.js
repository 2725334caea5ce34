// Generated from danish.sbl by Snowball 3.1.1 - https://snowballstem.org/; BSD, see LICENSE
import { Snowball } from "./snowball.js";
class DanishStemmer extends Snowball {
I_p1 = 0;
static g_undouble_c = new Set("bdfgklmnprst");
static g_v = new Set("aeiouyåæø");
static g_s_ending = new Set("'abcdfghjklmnoprtvyzå");
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
if (!(this.go_out_grouping(DanishStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
if (!(this.go_in_grouping(DanishStemmer.g_v))) {
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
let among_var, v_2;
if (this.cursor < this.I_p1) {
return false;
}
v_2 = this.limit_backward;
this.limit_backward = this.I_p1;
this.ket = this.cursor;
among_var = this.find_among_b(DanishStemmer.a_0);
if (among_var === 0) {
this.limit_backward = v_2;
return false;
}
this.bra = this.cursor;
this.limit_backward = v_2;
if (among_var === 1) {
this.slice_del();
} else {
if (!(this.in_grouping_b(DanishStemmer.g_s_ending))) {
return false;
}
this.slice_del();
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
if (this.find_among_b(DanishStemmer.a_1) === 0) {
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
let among_var, v_1, v_3, v_4;
v_1 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if (!(this.eq_s_b("st"))) {
break lab0;
}
this.bra = this.cursor;
if (!(this.eq_s_b("ig"))) {
break lab0;
}
this.slice_del();
}
this.cursor = this.limit - (v_1);
if (this.cursor < this.I_p1) {
return false;
}
v_3 = this.limit_backward;
this.limit_backward = this.I_p1;
this.ket = this.cursor;
among_var = this.find_among_b(DanishStemmer.a_2);
if (among_var === 0) {
this.limit_backward = v_3;
return false;
}
this.bra = this.cursor;
this.limit_backward = v_3;
if (among_var === 1) {
this.slice_del();
v_4 = this.limit - (this.cursor);
this.r_consonant_pair();
this.cursor = this.limit - (v_4);
} else {
this.slice_from("løs");
}
return true;
}
r_undouble() {
let S_ch, v_2;
if (this.cursor < this.I_p1) {
return false;
}
v_2 = this.limit_backward;
this.limit_backward = this.I_p1;
this.ket = this.cursor;
if (!(this.in_grouping_b(DanishStemmer.g_undouble_c))) {
this.limit_backward = v_2;
return false;
}
this.bra = this.cursor;
S_ch = this.slice_to();
this.limit_backward = v_2;
if (!(this.eq_s_b(S_ch))) {
return false;
}
this.slice_del();
return true;
}
_stem() {
let v_1, v_2, v_3, v_4;
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
v_4 = this.limit - (this.cursor);
this.r_undouble();
this.cursor = this.limit - (v_4);
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
static a_0 = [["hed",-1,1],["ethed",0,1],["ered",-1,1],["e",-1,1],["erede",3,1],["ende",3,1],["erende",5,1],["ene",3,1],["erne",3,1],["ere",3,1],["en",-1,1],["heden",10,1],["eren",10,1],["er",-1,1],["heder",13,1],["erer",13,1],["s",-1,2],["heds",16,1],["es",16,1],["endes",18,1],["erendes",19,1],["enes",18,1],["ernes",18,1],["eres",18,1],["ens",16,1],["hedens",24,1],["erens",24,1],["ers",16,1],["ets",16,1],["erets",28,1],["et",-1,1],["eret",30,1]];
static a_1 = [["gd",-1,-1],["dt",-1,-1],["gt",-1,-1],["kt",-1,-1]];
static a_2 = [["ig",-1,1],["lig",0,1],["elig",1,1],["els",-1,1],["løst",-1,2]];
}
export default DanishStemmer;
