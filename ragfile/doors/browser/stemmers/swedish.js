// Generated from swedish.sbl by Snowball 3.1.1 - https://snowballstem.org/; BSD, see LICENSE
import { Snowball } from "./snowball.js";
class SwedishStemmer extends Snowball {
I_p1 = 0;
static g_v = new Set("aeiouyäåö");
static g_s_ending = new Set("bcdfghjklmnoprtvy");
static g_ost_ending = new Set("iklnprtuv");
r_mark_regions() {
let I_x, v_1;
this.I_p1 = this.limit;
v_1 = this.cursor;
if (this.cursor + (3) > this.limit) {
return false;
}
this.cursor += 3;
I_x = this.cursor;
this.cursor = v_1;
if (!(this.go_out_grouping(SwedishStemmer.g_v))) {
return false;
}
this.cursor += 1;
if (!(this.go_in_grouping(SwedishStemmer.g_v))) {
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
return true;
}
r_et_condition() {
let v_1, v_2;
v_1 = this.limit - (this.cursor);
if (!(this.out_grouping_b(SwedishStemmer.g_v))) {
return false;
}
if (!(this.in_grouping_b(SwedishStemmer.g_v))) {
return false;
}
if (this.cursor <= this.limit_backward) {
return false;
}
this.cursor = this.limit - (v_1);
v_2 = this.limit - (this.cursor);
lab0: {
if (this.find_among_b(SwedishStemmer.a_0) === 0) {
break lab0;
}
return false;
}
this.cursor = this.limit - (v_2);
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
among_var = this.find_among_b(SwedishStemmer.a_1);
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
while (true) {
v_3 = this.limit - (this.cursor);
lab0: {
if (!(this.eq_s_b("et"))) {
break lab0;
}
if (!(this.r_et_condition())) {
break lab0;
}
this.bra = this.cursor;
break;
}
this.cursor = this.limit - (v_3);
if (!(this.in_grouping_b(SwedishStemmer.g_s_ending))) {
return false;
}
break;
}
this.slice_del();
} else {
if (!(this.r_et_condition())) {
return false;
}
this.slice_del();
}
}
return true;
}
r_consonant_pair() {
let v_2, v_3;
if (this.cursor < this.I_p1) {
return false;
}
v_2 = this.limit_backward;
this.limit_backward = this.I_p1;
v_3 = this.limit - (this.cursor);
if (this.find_among_b(SwedishStemmer.a_2) === 0) {
this.limit_backward = v_2;
return false;
}
this.cursor = this.limit - (v_3);
this.ket = this.cursor;
if (this.cursor <= this.limit_backward) {
this.limit_backward = v_2;
return false;
}
this.cursor -= 1;
this.bra = this.cursor;
this.slice_del();
this.limit_backward = v_2;
return true;
}
r_other_suffix() {
let among_var, v_2;
if (this.cursor < this.I_p1) {
return false;
}
v_2 = this.limit_backward;
this.limit_backward = this.I_p1;
this.ket = this.cursor;
among_var = this.find_among_b(SwedishStemmer.a_3);
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
if (!(this.in_grouping_b(SwedishStemmer.g_ost_ending))) {
return false;
}
this.slice_from("ös");
} else {
this.slice_from("full");
}
}
return true;
}
_stem() {
let v_1, v_2, v_3, v_4;
v_1 = this.cursor;
this.r_mark_regions();
this.cursor = v_1;
this.limit_backward = this.cursor;
this.cursor = this.limit;
v_2 = this.limit - (this.cursor);
this.r_main_suffix();
this.cursor = this.limit - (v_2);
v_3 = this.limit - (this.cursor);
this.r_consonant_pair();
this.cursor = this.limit - (v_3);
v_4 = this.limit - (this.cursor);
this.r_other_suffix();
this.cursor = this.limit - (v_4);
this.cursor = this.limit_backward;
return true;
}
static a_0 = [["fab",-1,-1],["h",-1,-1],["pak",-1,-1],["rak",-1,-1],["stak",-1,-1],["kom",-1,-1],["iet",-1,-1],["cit",-1,-1],["dit",-1,-1],["alit",-1,-1],["ilit",-1,-1],["mit",-1,-1],["nit",-1,-1],["pit",-1,-1],["rit",-1,-1],["sit",-1,-1],["tit",-1,-1],["uit",-1,-1],["ivit",-1,-1],["kvit",-1,-1],["xit",-1,-1]];
static a_1 = [["a",-1,1],["arna",0,1],["erna",0,1],["heterna",2,1],["orna",0,1],["ad",-1,1],["e",-1,1],["ade",6,1],["ande",6,1],["arne",6,1],["are",6,1],["aste",6,1],["en",-1,1],["anden",12,1],["aren",12,1],["heten",12,1],["ern",-1,1],["ar",-1,1],["er",-1,1],["heter",18,1],["or",-1,1],["s",-1,2],["as",21,1],["arnas",22,1],["ernas",22,1],["ornas",22,1],["es",21,1],["ades",26,1],["andes",26,1],["ens",21,1],["arens",29,1],["hetens",29,1],["erns",21,1],["at",-1,1],["et",-1,3],["andet",34,1],["het",34,1],["ast",-1,1]];
static a_2 = [["dd",-1,-1],["gd",-1,-1],["nn",-1,-1],["dt",-1,-1],["gt",-1,-1],["kt",-1,-1],["tt",-1,-1]];
static a_3 = [["ig",-1,1],["lig",0,1],["els",-1,1],["fullt",-1,3],["öst",-1,2]];
}
export default SwedishStemmer;
