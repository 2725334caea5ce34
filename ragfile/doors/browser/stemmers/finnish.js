// Generated from finnish.sbl by Snowball 3.1.1 - https://snowballstem.org/; BSD, see LICENSE
import { Snowball } from "./snowball.js";
class FinnishStemmer extends Snowball {
B_ending_removed = false;
I_p2 = 0;
I_p1 = 0;
static g_AEI = new Set("aeiä");
static g_C = new Set("bcdfghjklmnpqrstvwxz");
static g_v = new Set("aeiouyäö");
static g_particle_end = new Set("aeinotuyäö");
r_mark_regions() {
this.I_p1 = this.limit;
this.I_p2 = this.limit;
if (!(this.go_out_grouping(FinnishStemmer.g_v))) {
return false;
}
this.cursor += 1;
if (!(this.go_in_grouping(FinnishStemmer.g_v))) {
return false;
}
this.cursor += 1;
this.I_p1 = this.cursor;
if (!(this.go_out_grouping(FinnishStemmer.g_v))) {
return false;
}
this.cursor += 1;
if (!(this.go_in_grouping(FinnishStemmer.g_v))) {
return false;
}
this.cursor += 1;
this.I_p2 = this.cursor;
return true;
}
r_particle_etc() {
let among_var, v_2;
if (this.cursor < this.I_p1) {
return false;
}
v_2 = this.limit_backward;
this.limit_backward = this.I_p1;
this.ket = this.cursor;
among_var = this.find_among_b(FinnishStemmer.a_0);
if (among_var === 0) {
this.limit_backward = v_2;
return false;
}
this.bra = this.cursor;
this.limit_backward = v_2;
if (among_var === 1) {
if (!(this.in_grouping_b(FinnishStemmer.g_particle_end))) {
return false;
}
} else {
if (this.I_p2 > this.cursor) {
return false;
}
}
this.slice_del();
return true;
}
r_possessive() {
let among_var, v_2;
if (this.cursor < this.I_p1) {
return false;
}
v_2 = this.limit_backward;
this.limit_backward = this.I_p1;
this.ket = this.cursor;
among_var = this.find_among_b(FinnishStemmer.a_4);
if (among_var === 0) {
this.limit_backward = v_2;
return false;
}
this.bra = this.cursor;
this.limit_backward = v_2;
if (among_var === 1) {
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "k")) {
break lab0;
}
this.cursor -= 1;
return false;
}
this.slice_del();
} else {
if (among_var === 2) {
this.slice_del();
this.ket = this.cursor;
if (!(this.eq_s_b("kse"))) {
return false;
}
this.bra = this.cursor;
this.slice_from("ksi");
} else {
if (among_var === 3) {
this.slice_del();
} else {
if (among_var === 4) {
if (this.find_among_b(FinnishStemmer.a_1) === 0) {
return false;
}
this.slice_del();
} else {
if (among_var === 5) {
if (this.find_among_b(FinnishStemmer.a_2) === 0) {
return false;
}
this.slice_del();
} else {
if (this.find_among_b(FinnishStemmer.a_3) === 0) {
return false;
}
this.slice_del();
}
}
}
}
}
return true;
}
r_LV() {
return this.find_among_b(FinnishStemmer.a_5) !== 0;
}
r_VI() {
return this.find_among_b(FinnishStemmer.a_6) !== 0;
}
r_A() {
while (true) {
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "a")) {
break lab0;
}
this.cursor -= 1;
break;
}
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "'")) {
return false;
}
this.cursor -= 1;
break;
}
return true;
}
r_E() {
while (true) {
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "e")) {
break lab0;
}
this.cursor -= 1;
break;
}
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "'")) {
return false;
}
this.cursor -= 1;
break;
}
return true;
}
r_I() {
while (true) {
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "i")) {
break lab0;
}
this.cursor -= 1;
break;
}
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "'")) {
return false;
}
this.cursor -= 1;
break;
}
return true;
}
r_O() {
while (true) {
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "o")) {
break lab0;
}
this.cursor -= 1;
break;
}
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "'")) {
return false;
}
this.cursor -= 1;
break;
}
return true;
}
r_U() {
while (true) {
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "u")) {
break lab0;
}
this.cursor -= 1;
break;
}
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "'")) {
return false;
}
this.cursor -= 1;
break;
}
return true;
}
r_A_() {
while (true) {
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "ä")) {
break lab0;
}
this.cursor -= 1;
break;
}
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "'")) {
return false;
}
this.cursor -= 1;
break;
}
return true;
}
r_O_() {
while (true) {
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "ö")) {
break lab0;
}
this.cursor -= 1;
break;
}
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "ø")) {
break lab0;
}
this.cursor -= 1;
break;
}
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "'")) {
return false;
}
this.cursor -= 1;
break;
}
return true;
}
r_case_ending() {
let among_var, v_2, v_3, v_4, v_5;
if (this.cursor < this.I_p1) {
return false;
}
v_2 = this.limit_backward;
this.limit_backward = this.I_p1;
this.ket = this.cursor;
among_var = this.find_among_b(FinnishStemmer.a_7);
if (among_var === 0) {
this.limit_backward = v_2;
return false;
}
this.bra = this.cursor;
this.limit_backward = v_2;
if (among_var === 1) {
v_3 = this.limit - (this.cursor);
lab0: {
v_4 = this.limit - (this.cursor);
while (true) {
v_5 = this.limit - (this.cursor);
lab1: {
if (!(this.r_LV())) {
break lab1;
}
break;
}
this.cursor = this.limit - (v_5);
if (!(this.eq_s_b("ie"))) {
this.cursor = this.limit - (v_3);
break lab0;
}
break;
}
this.cursor = this.limit - (v_4);
if (this.cursor <= this.limit_backward) {
this.cursor = this.limit - (v_3);
break lab0;
}
this.cursor -= 1;
this.bra = this.cursor;
}
} else {
if (among_var === 2) {
if (!(this.in_grouping_b(FinnishStemmer.g_v))) {
return false;
}
if (!(this.in_grouping_b(FinnishStemmer.g_C))) {
return false;
}
} else {
if (among_var === 3) {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "e")) {
return false;
}
this.cursor -= 1;
}
}
}
this.slice_del();
this.B_ending_removed = true;
return true;
}
r_other_endings() {
let among_var, v_2;
if (this.cursor < this.I_p2) {
return false;
}
v_2 = this.limit_backward;
this.limit_backward = this.I_p2;
this.ket = this.cursor;
among_var = this.find_among_b(FinnishStemmer.a_8);
if (among_var === 0) {
this.limit_backward = v_2;
return false;
}
this.bra = this.cursor;
this.limit_backward = v_2;
if (among_var === 1) {
lab0: {
if (!(this.eq_s_b("po"))) {
break lab0;
}
return false;
}
}
this.slice_del();
return true;
}
r_i_plural() {
let v_2;
if (this.cursor < this.I_p1) {
return false;
}
v_2 = this.limit_backward;
this.limit_backward = this.I_p1;
this.ket = this.cursor;
if (this.find_among_b(FinnishStemmer.a_9) === 0) {
this.limit_backward = v_2;
return false;
}
this.bra = this.cursor;
this.limit_backward = v_2;
this.slice_del();
return true;
}
r_t_plural() {
let among_var, v_2, v_3, v_5;
if (this.cursor < this.I_p1) {
return false;
}
v_2 = this.limit_backward;
this.limit_backward = this.I_p1;
this.ket = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "t")) {
this.limit_backward = v_2;
return false;
}
this.cursor -= 1;
this.bra = this.cursor;
v_3 = this.limit - (this.cursor);
if (!(this.in_grouping_b(FinnishStemmer.g_v))) {
this.limit_backward = v_2;
return false;
}
this.cursor = this.limit - (v_3);
this.slice_del();
this.limit_backward = v_2;
if (this.cursor < this.I_p2) {
return false;
}
v_5 = this.limit_backward;
this.limit_backward = this.I_p2;
this.ket = this.cursor;
among_var = this.find_among_b(FinnishStemmer.a_10);
if (among_var === 0) {
this.limit_backward = v_5;
return false;
}
this.bra = this.cursor;
this.limit_backward = v_5;
if (among_var === 1) {
lab0: {
if (!(this.eq_s_b("po"))) {
break lab0;
}
return false;
}
}
this.slice_del();
return true;
}
r_tidy() {
let S_x, v_2, v_3, v_4, v_5, v_6, v_7, v_8;
if (this.cursor < this.I_p1) {
return false;
}
v_2 = this.limit_backward;
this.limit_backward = this.I_p1;
v_3 = this.limit - (this.cursor);
lab0: {
v_4 = this.limit - (this.cursor);
if (!(this.r_LV())) {
break lab0;
}
this.cursor = this.limit - (v_4);
this.ket = this.cursor;
if (this.cursor <= this.limit_backward) {
break lab0;
}
this.cursor -= 1;
this.bra = this.cursor;
this.slice_del();
}
this.cursor = this.limit - (v_3);
v_5 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if (!(this.in_grouping_b(FinnishStemmer.g_AEI))) {
break lab0;
}
this.bra = this.cursor;
if (!(this.in_grouping_b(FinnishStemmer.g_C))) {
break lab0;
}
this.slice_del();
}
this.cursor = this.limit - (v_5);
v_6 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "j")) {
break lab0;
}
this.cursor -= 1;
this.bra = this.cursor;
while (true) {
lab1: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "o")) {
break lab1;
}
this.cursor -= 1;
break;
}
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "u")) {
break lab0;
}
this.cursor -= 1;
break;
}
this.slice_del();
}
this.cursor = this.limit - (v_6);
v_7 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "o")) {
break lab0;
}
this.cursor -= 1;
this.bra = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "j")) {
break lab0;
}
this.cursor -= 1;
this.slice_del();
}
this.cursor = this.limit - (v_7);
this.limit_backward = v_2;
v_8 = this.limit - (this.cursor);
lab0: {
if (!(this.go_in_grouping_b(FinnishStemmer.g_v))) {
break lab0;
}
this.ket = this.cursor;
if (!(this.in_grouping_b(FinnishStemmer.g_C))) {
break lab0;
}
this.bra = this.cursor;
S_x = this.slice_to();
if (!(this.eq_s_b(S_x))) {
break lab0;
}
this.slice_del();
}
this.cursor = this.limit - (v_8);
this.ket = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "'")) {
return false;
}
this.cursor -= 1;
this.bra = this.cursor;
this.slice_del();
return true;
}
_stem() {
let v_1, v_2, v_3, v_4, v_5, v_6, v_7, v_8;
v_1 = this.cursor;
this.r_mark_regions();
this.cursor = v_1;
this.B_ending_removed = false;
this.limit_backward = this.cursor;
this.cursor = this.limit;
v_2 = this.limit - (this.cursor);
this.r_particle_etc();
this.cursor = this.limit - (v_2);
v_3 = this.limit - (this.cursor);
this.r_possessive();
this.cursor = this.limit - (v_3);
v_4 = this.limit - (this.cursor);
this.r_case_ending();
this.cursor = this.limit - (v_4);
v_5 = this.limit - (this.cursor);
this.r_other_endings();
this.cursor = this.limit - (v_5);
while (true) {
lab0: {
if (!(this.B_ending_removed)) {
break lab0;
}
v_6 = this.limit - (this.cursor);
this.r_i_plural();
this.cursor = this.limit - (v_6);
break;
}
v_7 = this.limit - (this.cursor);
this.r_t_plural();
this.cursor = this.limit - (v_7);
break;
}
v_8 = this.limit - (this.cursor);
this.r_tidy();
this.cursor = this.limit - (v_8);
this.cursor = this.limit_backward;
return true;
}
static a_0 = [["pa",-1,1],["sti",-1,2],["kaan",-1,1],["han",-1,1],["kin",-1,1],["hän",-1,1],["kään",-1,1],["ko",-1,1],["pä",-1,1],["kö",-1,1]];
static a_1 = [["lla",-1,-1],["na",-1,-1],["ssa",-1,-1],["ta",-1,-1],["lta",3,-1],["sta",3,-1]];
static a_2 = [["llä",-1,-1],["nä",-1,-1],["ssä",-1,-1],["tä",-1,-1],["ltä",3,-1],["stä",3,-1]];
static a_3 = [["lle",-1,-1],["ine",-1,-1]];
static a_4 = [["nsa",-1,3],["mme",-1,3],["nne",-1,3],["ni",-1,2],["si",-1,1],["an",-1,4],["en",-1,6],["än",-1,5],["nsä",-1,3]];
static a_5 = [["aa",-1,-1],["ee",-1,-1],["ii",-1,-1],["oo",-1,-1],["uu",-1,-1],["ää",-1,-1],["öö",-1,-1]];
static a_6 = [["'",-1,-1],["ai",-1,-1],["ei",-1,-1],["ii",-1,-1],["oi",-1,-1],["ui",-1,-1],["äi",-1,-1],["öi",-1,-1]];
static a_7 = [["a",-1,2],["lla",0,-1],["na",0,-1],["ssa",0,-1],["ta",0,-1],["lta",4,-1],["sta",4,-1],["tta",4,3],["lle",-1,-1],["ine",-1,-1],["ksi",-1,-1],["n",-1,1],["han",11,-1,(s) => s.r_A()],["den",11,-1,(s) => s.r_VI()],["seen",11,-1,(s) => s.r_LV()],["hen",11,-1,(s) => s.r_E()],["tten",11,-1,(s) => s.r_VI()],["hin",11,-1,(s) => s.r_I()],["siin",11,-1,(s) => s.r_VI()],["hon",11,-1,(s) => s.r_O()],["hun",11,-1,(s) => s.r_U()],["hän",11,-1,(s) => s.r_A_()],["hön",11,-1,(s) => s.r_O_()],["ä",-1,2],["llä",23,-1],["nä",23,-1],["ssä",23,-1],["tä",23,-1],["ltä",27,-1],["stä",27,-1],["ttä",27,3]];
static a_8 = [["eja",-1,-1],["mma",-1,1],["imma",1,-1],["mpa",-1,1],["impa",3,-1],["mmi",-1,1],["immi",5,-1],["mpi",-1,1],["impi",7,-1],["ejä",-1,-1],["mmä",-1,1],["immä",10,-1],["mpä",-1,1],["impä",12,-1]];
static a_9 = [["i",-1,-1],["j",-1,-1]];
static a_10 = [["mma",-1,1],["imma",0,-1]];
}
export default FinnishStemmer;
