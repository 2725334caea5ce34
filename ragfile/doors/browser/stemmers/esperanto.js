// Generated from esperanto.sbl by Snowball 3.1.1 - https://snowballstem.org/; BSD, see LICENSE
import { Snowball } from "./snowball.js";
class EsperantoStemmer extends Snowball {
static g_vowel = new Set("aeiou");
static g_aou = "aou";
static g_digit = new Set("0123456789");
r_canonical_form() {
let B_foreign, among_var, v_1;
B_foreign = false;
while (true) {
v_1 = this.cursor;
lab0: {
this.bra = this.cursor;
among_var = this.find_among(EsperantoStemmer.a_0);
this.ket = this.cursor;
if (among_var === 1) {
this.slice_from("ĉ");
} else {
if (among_var === 2) {
this.slice_from("ĝ");
} else {
if (among_var === 3) {
this.slice_from("ĥ");
} else {
if (among_var === 4) {
this.slice_from("ĵ");
} else {
if (among_var === 5) {
this.slice_from("ŝ");
} else {
if (among_var === 6) {
this.slice_from("ŭ");
} else {
if (among_var === 7) {
this.slice_from("a");
B_foreign = true;
} else {
if (among_var === 8) {
this.slice_from("e");
B_foreign = true;
} else {
if (among_var === 9) {
this.slice_from("i");
B_foreign = true;
} else {
if (among_var === 10) {
this.slice_from("o");
B_foreign = true;
} else {
if (among_var === 11) {
this.slice_from("u");
B_foreign = true;
} else {
if (among_var === 12) {
B_foreign = true;
} else {
if (among_var === 13) {
B_foreign = false;
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
}
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
return !(B_foreign);
}
r_initial_apostrophe() {
this.bra = this.cursor;
if ((this.cursor === this.limit) || (this.current[this.cursor] !== "'")) {
return false;
}
this.cursor += 1;
this.ket = this.cursor;
if (!(this.eq_s("st"))) {
return false;
}
if (this.find_among(EsperantoStemmer.a_1) === 0) {
return false;
}
if (this.cursor < this.limit) {
return false;
}
this.slice_from("e");
return true;
}
r_pronoun() {
let v_1;
this.ket = this.cursor;
v_1 = this.limit - (this.cursor);
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "n")) {
this.cursor = this.limit - (v_1);
break lab0;
}
this.cursor -= 1;
}
this.bra = this.cursor;
if (this.find_among_b(EsperantoStemmer.a_2) === 0) {
return false;
}
while (true) {
lab0: {
if (this.cursor > this.limit_backward) {
break lab0;
}
break;
}
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "-")) {
return false;
}
this.cursor -= 1;
break;
}
this.slice_del();
return true;
}
r_final_apostrophe() {
let v_1;
this.ket = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "'")) {
return false;
}
this.cursor -= 1;
this.bra = this.cursor;
while (true) {
v_1 = this.limit - (this.cursor);
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "l")) {
break lab0;
}
this.cursor -= 1;
if (this.cursor > this.limit_backward) {
break lab0;
}
this.slice_from("a");
break;
}
this.cursor = this.limit - (v_1);
lab0: {
if (!(this.eq_s_b("un"))) {
break lab0;
}
if (this.cursor > this.limit_backward) {
break lab0;
}
this.slice_from("u");
break;
}
this.cursor = this.limit - (v_1);
lab0: {
if (this.find_among_b(EsperantoStemmer.a_3) === 0) {
break lab0;
}
while (true) {
lab1: {
if (this.cursor > this.limit_backward) {
break lab1;
}
break;
}
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "-")) {
break lab0;
}
this.cursor -= 1;
break;
}
this.slice_from("aŭ");
break;
}
this.cursor = this.limit - (v_1);
this.slice_from("o");
break;
}
return true;
}
r_ujn_suffix() {
let v_1, v_2;
this.ket = this.cursor;
v_1 = this.limit - (this.cursor);
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "n")) {
this.cursor = this.limit - (v_1);
break lab0;
}
this.cursor -= 1;
}
v_2 = this.limit - (this.cursor);
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "j")) {
this.cursor = this.limit - (v_2);
break lab0;
}
this.cursor -= 1;
}
this.bra = this.cursor;
if (this.find_among_b(EsperantoStemmer.a_4) === 0) {
return false;
}
while (true) {
lab0: {
if (this.cursor > this.limit_backward) {
break lab0;
}
break;
}
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "-")) {
return false;
}
this.cursor -= 1;
break;
}
this.slice_del();
return true;
}
r_uninflected() {
if (this.find_among_b(EsperantoStemmer.a_5) === 0) {
return false;
}
while (true) {
lab0: {
if (this.cursor > this.limit_backward) {
break lab0;
}
break;
}
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "-")) {
return false;
}
this.cursor -= 1;
break;
}
return true;
}
r_merged_numeral() {
if (this.find_among_b(EsperantoStemmer.a_6) === 0) {
return false;
}
return this.find_among_b(EsperantoStemmer.a_7) !== 0;
}
r_correlative() {
let v_1, v_2, v_3, v_4, v_5, v_6;
this.ket = this.cursor;
this.bra = this.cursor;
v_1 = this.limit - (this.cursor);
while (true) {
v_2 = this.limit - (this.cursor);
lab0: {
v_3 = this.limit - (this.cursor);
lab1: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "n")) {
this.cursor = this.limit - (v_3);
break lab1;
}
this.cursor -= 1;
}
this.bra = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "e")) {
break lab0;
}
this.cursor -= 1;
break;
}
this.cursor = this.limit - (v_2);
v_4 = this.limit - (this.cursor);
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "n")) {
this.cursor = this.limit - (v_4);
break lab0;
}
this.cursor -= 1;
}
v_5 = this.limit - (this.cursor);
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "j")) {
this.cursor = this.limit - (v_5);
break lab0;
}
this.cursor -= 1;
}
this.bra = this.cursor;
if (!(this.in_grouping_b(EsperantoStemmer.g_aou))) {
return false;
}
break;
}
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "i")) {
return false;
}
this.cursor -= 1;
v_6 = this.limit - (this.cursor);
lab0: {
if (this.find_among_b(EsperantoStemmer.a_8) === 0) {
this.cursor = this.limit - (v_6);
break lab0;
}
}
while (true) {
lab0: {
if (this.cursor > this.limit_backward) {
break lab0;
}
break;
}
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "-")) {
return false;
}
this.cursor -= 1;
break;
}
this.cursor = this.limit - (v_1);
this.slice_del();
return true;
}
r_long_word() {
let v_1;
while (true) {
v_1 = this.limit - (this.cursor);
lab0: {
for (let _ = 0; _ < 2; _++) {
if (!(this.go_out_grouping_b(EsperantoStemmer.g_vowel))) {
break lab0;
}
this.cursor -= 1;
}
break;
}
this.cursor = this.limit - (v_1);
lab0: {
while (true) {
lab1: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "-")) {
break lab1;
}
this.cursor -= 1;
break;
}
if (this.cursor <= this.limit_backward) {
break lab0;
}
this.cursor -= 1;
}
if (this.cursor <= this.limit_backward) {
break lab0;
}
this.cursor -= 1;
break;
}
this.cursor = this.limit - (v_1);
if (!(this.go_out_grouping_b(EsperantoStemmer.g_digit))) {
return false;
}
this.cursor -= 1;
break;
}
return true;
}
r_standard_suffix() {
let among_var, v_1, v_2;
this.ket = this.cursor;
among_var = this.find_among_b(EsperantoStemmer.a_9);
if (among_var === 0) {
return false;
}
if (among_var === 1) {
v_1 = this.limit - (this.cursor);
while (true) {
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "-")) {
break lab0;
}
this.cursor -= 1;
break;
}
if (!(this.in_grouping_b(EsperantoStemmer.g_digit))) {
return false;
}
break;
}
this.cursor = this.limit - (v_1);
}
v_2 = this.limit - (this.cursor);
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "-")) {
this.cursor = this.limit - (v_2);
break lab0;
}
this.cursor -= 1;
}
this.bra = this.cursor;
this.slice_del();
return true;
}
_stem() {
let v_1, v_2, v_3, v_4, v_5, v_6, v_7, v_8, v_9;
v_1 = this.cursor;
if (!(this.r_canonical_form())) {
return false;
}
this.cursor = v_1;
v_2 = this.cursor;
this.r_initial_apostrophe();
this.cursor = v_2;
this.limit_backward = this.cursor;
this.cursor = this.limit;
v_3 = this.limit - (this.cursor);
lab0: {
if (!(this.r_pronoun())) {
break lab0;
}
return false;
}
this.cursor = this.limit - (v_3);
v_4 = this.limit - (this.cursor);
this.r_final_apostrophe();
this.cursor = this.limit - (v_4);
v_5 = this.limit - (this.cursor);
lab0: {
if (!(this.r_correlative())) {
break lab0;
}
return false;
}
this.cursor = this.limit - (v_5);
v_6 = this.limit - (this.cursor);
lab0: {
if (!(this.r_uninflected())) {
break lab0;
}
return false;
}
this.cursor = this.limit - (v_6);
v_7 = this.limit - (this.cursor);
lab0: {
if (!(this.r_merged_numeral())) {
break lab0;
}
return false;
}
this.cursor = this.limit - (v_7);
v_8 = this.limit - (this.cursor);
lab0: {
if (!(this.r_ujn_suffix())) {
break lab0;
}
return false;
}
this.cursor = this.limit - (v_8);
v_9 = this.limit - (this.cursor);
if (!(this.r_long_word())) {
return false;
}
this.cursor = this.limit - (v_9);
if (!(this.r_standard_suffix())) {
return false;
}
this.cursor = this.limit_backward;
return true;
}
static a_0 = [["",-1,14],["-",0,13],["cx",0,1],["gx",0,2],["hx",0,3],["jx",0,4],["q",0,12],["sx",0,5],["ux",0,6],["w",0,12],["x",0,12],["y",0,12],["á",0,7],["é",0,8],["í",0,9],["ó",0,10],["ú",0,11]];
static a_1 = [["as",-1,-1],["i",-1,-1],["is",1,-1],["os",-1,-1],["u",-1,-1],["us",4,-1]];
static a_2 = [["ci",-1,-1],["gi",-1,-1],["hi",-1,-1],["li",-1,-1],["ili",3,-1],["ŝli",3,-1],["mi",-1,-1],["ni",-1,-1],["oni",7,-1],["ri",-1,-1],["si",-1,-1],["vi",-1,-1],["ivi",11,-1],["ĝi",-1,-1],["ŝi",-1,-1],["iŝi",14,-1],["malŝi",14,-1]];
static a_3 = [["amb",-1,-1],["bald",-1,-1],["malbald",1,-1],["morg",-1,-1],["postmorg",3,-1],["adi",-1,-1],["hodi",-1,-1],["ank",-1,-1],["ĉirk",-1,-1],["tutĉirk",8,-1],["presk",-1,-1],["almen",-1,-1],["apen",-1,-1],["hier",-1,-1],["antaŭhier",13,-1],["malgr",-1,-1],["ankor",-1,-1],["kontr",-1,-1],["anstat",-1,-1],["kvaz",-1,-1]];
static a_4 = [["aliu",-1,-1],["unu",-1,-1]];
static a_5 = [["aha",-1,-1],["haha",0,-1],["haleluja",-1,-1],["hola",-1,-1],["hosana",-1,-1],["maltra",-1,-1],["hura",-1,-1],["ĥaĥa",-1,-1],["ekde",-1,-1],["elde",-1,-1],["disde",-1,-1],["ehe",-1,-1],["maltre",-1,-1],["dirlididi",-1,-1],["malpli",-1,-1],["malĉi",-1,-1],["malkaj",-1,-1],["amen",-1,-1],["tamen",17,-1],["oho",-1,-1],["maltro",-1,-1],["minus",-1,-1],["uhu",-1,-1],["muu",-1,-1]];
static a_6 = [["tri",-1,-1],["du",-1,-1],["unu",-1,-1]];
static a_7 = [["dek",-1,-1],["cent",-1,-1]];
static a_8 = [["k",-1,-1],["kelk",0,-1],["nen",-1,-1],["t",-1,-1],["mult",3,-1],["samt",3,-1],["ĉ",-1,-1]];
static a_9 = [["a",-1,-1],["e",-1,-1],["i",-1,-1],["j",-1,1],["aj",3,-1],["oj",3,-1],["n",-1,1],["an",6,-1],["en",6,-1],["jn",6,1],["ajn",9,-1],["ojn",9,-1],["on",6,-1],["o",-1,-1],["as",-1,-1],["is",-1,-1],["os",-1,-1],["us",-1,-1],["u",-1,-1]];
}
export default EsperantoStemmer;
