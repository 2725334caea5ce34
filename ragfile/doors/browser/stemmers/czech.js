// Generated from czech.sbl by Snowball 3.1.1 - https://snowballstem.org/; BSD, see LICENSE
import { Snowball } from "./snowball.js";
class CzechStemmer extends Snowball {
I_p1 = 0;
static g_v = new Set("aeiouyáéíóúýěů");
static g_v_or_syllabic_c = new Set("aeiloruyáéíóúýěů");
static g_ev_ending = new Set("hknrtz");
static g_env_ending = new Set("bcdhkprstvzčšž");
r_mark_regions() {
let I_x, v_1, v_2;
v_1 = this.cursor;
if (this.cursor + (3) > this.limit) {
return false;
}
this.cursor += 3;
I_x = this.cursor;
this.cursor = v_1;
this.I_p1 = this.limit;
v_2 = this.cursor;
lab0: {
while (true) {
lab1: {
if (!(this.in_grouping(CzechStemmer.g_v))) {
break lab1;
}
break;
}
if (this.cursor >= this.limit) {
break lab0;
}
this.cursor += 1;
if (!(this.go_out_grouping(CzechStemmer.g_v_or_syllabic_c))) {
break lab0;
}
this.cursor += 1;
break;
}
if (!(this.go_in_grouping(CzechStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
this.I_p1 = this.cursor;
lab1: {
if (this.I_p1 >= I_x) {
break lab1;
}
this.I_p1 = I_x;
}
}
this.cursor = v_2;
return true;
}
r_palatalise_e() {
let among_var;
this.ket = this.cursor;
among_var = this.find_among_b(CzechStemmer.a_0);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
if (among_var > 0) {
this.slice_from(CzechStemmer.as_0[among_var - (1)]);
}
return true;
}
r_palatalise_i() {
let among_var;
this.ket = this.cursor;
among_var = this.find_among_b(CzechStemmer.a_1);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
if (among_var > 0) {
this.slice_from(CzechStemmer.as_1[among_var - (1)]);
}
return true;
}
r_possessive_suffix() {
let among_var, v_1;
this.ket = this.cursor;
among_var = this.find_among_b(CzechStemmer.a_2);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
if (this.I_p1 > this.cursor) {
return false;
}
if (among_var === 1) {
this.slice_del();
} else {
this.slice_del();
v_1 = this.limit - (this.cursor);
lab0: {
if (!(this.r_palatalise_i())) {
this.cursor = this.limit - (v_1);
break lab0;
}
}
}
return true;
}
r_case_suffix() {
let among_var, v_10, v_2, v_3, v_4, v_5, v_6, v_7, v_8, v_9;
if (this.cursor < this.I_p1) {
return false;
}
v_2 = this.limit_backward;
this.limit_backward = this.I_p1;
this.ket = this.cursor;
among_var = this.find_among_b(CzechStemmer.a_6);
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
this.slice_del();
v_3 = this.limit - (this.cursor);
lab0: {
if (!(this.r_palatalise_e())) {
this.cursor = this.limit - (v_3);
break lab0;
}
}
} else {
if (among_var === 3) {
among_var = this.find_among_b(CzechStemmer.a_3);
this.slice_from(CzechStemmer.as_3[among_var - (1)]);
} else {
if (among_var === 4) {
v_4 = this.limit - (this.cursor);
if (!(this.out_grouping_b(CzechStemmer.g_v))) {
return false;
}
this.cursor = this.limit - (v_4);
lab0: {
if (!(this.eq_s_b("tř"))) {
break lab0;
}
return false;
}
this.slice_from("b");
} else {
if (among_var === 5) {
v_5 = this.limit - (this.cursor);
if (!(this.out_grouping_b(CzechStemmer.g_v))) {
return false;
}
this.cursor = this.limit - (v_5);
this.slice_del();
this.insert(this.cursor, this.cursor, "c");
v_6 = this.limit - (this.cursor);
lab0: {
if (!(this.r_palatalise_e())) {
this.cursor = this.limit - (v_6);
break lab0;
}
}
} else {
if (among_var === 6) {
v_7 = this.limit - (this.cursor);
if (!(this.out_grouping_b(CzechStemmer.g_v))) {
return false;
}
this.cursor = this.limit - (v_7);
v_8 = this.limit - (this.cursor);
lab0: {
if (this.find_among_b(CzechStemmer.a_4) === 0) {
break lab0;
}
return false;
}
this.cursor = this.limit - (v_8);
this.slice_from("k");
} else {
if (among_var === 7) {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "n")) {
return false;
}
this.cursor -= 1;
this.bra = this.cursor;
this.slice_from("ňk");
} else {
if (among_var === 8) {
v_9 = this.limit - (this.cursor);
if (!(this.in_grouping_b(CzechStemmer.g_env_ending))) {
return false;
}
this.cursor = this.limit - (v_9);
this.slice_from("n");
} else {
if (among_var === 9) {
if (this.find_among_b(CzechStemmer.a_5) === 0) {
return false;
}
this.slice_from("t");
} else {
if (among_var === 10) {
if (!(this.in_grouping_b(CzechStemmer.g_ev_ending))) {
return false;
}
this.slice_from("v");
} else {
if (among_var === 11) {
this.slice_from("t");
} else {
this.slice_del();
v_10 = this.limit - (this.cursor);
lab0: {
if (!(this.r_palatalise_i())) {
this.cursor = this.limit - (v_10);
break lab0;
}
}
}
}
}
}
}
}
}
}
}
}
}
return true;
}
_stem() {
let v_1, v_2;
if (!(this.r_mark_regions())) {
return false;
}
this.limit_backward = this.cursor;
this.cursor = this.limit;
v_1 = this.limit - (this.cursor);
this.r_case_suffix();
this.cursor = this.limit - (v_1);
v_2 = this.limit - (this.cursor);
this.r_possessive_suffix();
this.cursor = this.limit - (v_2);
this.cursor = this.limit_backward;
return true;
}
static a_0 = [["c",-1,1],["nc",0,-1],["ínc",1,2],["avc",0,-1],["ovc",0,-1]];
static as_0 = ["k","ínk"];
static a_1 = [["c",-1,1],["nc",0,-1],["ínc",1,2],["avc",0,-1],["ovc",0,-1],["čt",-1,3],["št",-1,4],["dešt",6,-1],["lešt",6,-1],["išt",6,-1],["poušt",6,-1],["ášt",6,-1],["íšt",6,-1]];
static as_1 = ["k","ínk","ck","sk"];
static a_2 = [["in",-1,2],["ov",-1,1],["ův",-1,1]];
static a_3 = [["",-1,2],["l",0,1],["tl",1,2],["s",0,1],["es",3,2],["č",0,1],["eč",5,2],["ř",0,1],["ž",0,1]];
static as_3 = ["","et"];
static a_4 = [["obl",-1,-1],["sn",-1,-1],["dot",-1,-1]];
static a_5 = [["uc",-1,-1],["h",-1,-1],["ok",-1,-1],["kar",-1,-1],["č",-1,-1]];
static a_6 = [["a",-1,1],["ama",0,1],["ata",0,1],["eb",-1,4],["ec",-1,5],["e",-1,2],["ete",5,3],["ěte",5,1],["ech",-1,2],["atech",8,1],["ách",-1,1],["ích",-1,12],["ých",-1,1],["i",-1,12],["mi",13,1],["ami",14,1],["emi",14,2],["ími",14,12],["ými",14,1],["ěmi",14,1],["ťmi",14,11],["eti",13,3],["ěti",13,1],["ovi",13,1],["ek",-1,6],["ěk",-1,7],["em",-1,2],["etem",26,3],["ětem",26,1],["ám",-1,1],["ém",-1,1],["ím",-1,12],["ým",-1,1],["ěm",-1,1],["ům",-1,1],["atům",34,1],["o",-1,1],["ého",36,1],["ího",36,12],["us",-1,1],["at",-1,1],["et",-1,9],["u",-1,1],["ému",42,1],["ímu",42,12],["ou",42,1],["ev",-1,10],["y",-1,1],["aty",47,1],["á",-1,1],["é",-1,1],["ové",50,1],["í",-1,12],["ý",-1,1],["ě",-1,1],["eň",-1,8],["ť",-1,11],["ů",-1,1]];
}
export default CzechStemmer;
