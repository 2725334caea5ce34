// Generated from italian.sbl by Snowball 3.1.1 - https://snowballstem.org/; BSD, see LICENSE
import { Snowball } from "./snowball.js";
class ItalianStemmer extends Snowball {
I_p2 = 0;
I_p1 = 0;
I_pV = 0;
static g_v = new Set("aeiouàèìòù");
static g_AEIO = new Set("aeioàèìò");
static g_CG = "cg";
r_elisions() {
this.bra = this.cursor;
if (this.find_among(ItalianStemmer.a_0) === 0) {
return false;
}
this.ket = this.cursor;
if (this.cursor >= this.limit) {
return false;
}
this.slice_del();
return true;
}
r_prelude() {
let among_var, v_1, v_2, v_3, v_4, v_5;
v_1 = this.cursor;
while (true) {
v_2 = this.cursor;
lab0: {
this.bra = this.cursor;
among_var = this.find_among(ItalianStemmer.a_1);
this.ket = this.cursor;
if (among_var === 1) {
this.slice_from("à");
} else {
if (among_var === 2) {
this.slice_from("è");
} else {
if (among_var === 3) {
this.slice_from("ì");
} else {
if (among_var === 4) {
this.slice_from("ò");
} else {
if (among_var === 5) {
this.slice_from("ù");
} else {
if (among_var === 6) {
this.slice_from("qU");
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
this.cursor = v_2;
break;
}
this.cursor = v_1;
while (true) {
v_3 = this.cursor;
lab0: {
while (true) {
v_4 = this.cursor;
lab1: {
if (!(this.in_grouping(ItalianStemmer.g_v))) {
break lab1;
}
this.bra = this.cursor;
while (true) {
v_5 = this.cursor;
lab2: {
if ((this.cursor === this.limit) || (this.current[this.cursor] !== "u")) {
break lab2;
}
this.cursor += 1;
this.ket = this.cursor;
if (!(this.in_grouping(ItalianStemmer.g_v))) {
break lab2;
}
this.slice_from("U");
break;
}
this.cursor = v_5;
if ((this.cursor === this.limit) || (this.current[this.cursor] !== "i")) {
break lab1;
}
this.cursor += 1;
this.ket = this.cursor;
if (!(this.in_grouping(ItalianStemmer.g_v))) {
break lab1;
}
this.slice_from("I");
break;
}
this.cursor = v_4;
break;
}
this.cursor = v_4;
if (this.cursor >= this.limit) {
break lab0;
}
this.cursor += 1;
}
continue;
}
this.cursor = v_3;
break;
}
return true;
}
r_mark_regions() {
let v_1, v_2, v_3, v_4, v_5;
this.I_pV = this.limit;
this.I_p1 = this.limit;
this.I_p2 = this.limit;
v_1 = this.cursor;
lab0: {
while (true) {
v_2 = this.cursor;
lab1: {
if (!(this.in_grouping(ItalianStemmer.g_v))) {
break lab1;
}
while (true) {
v_3 = this.cursor;
lab2: {
if (!(this.out_grouping(ItalianStemmer.g_v))) {
break lab2;
}
if (!(this.go_out_grouping(ItalianStemmer.g_v))) {
break lab2;
}
this.cursor += 1;
break;
}
this.cursor = v_3;
if (!(this.in_grouping(ItalianStemmer.g_v))) {
break lab1;
}
if (!(this.go_in_grouping(ItalianStemmer.g_v))) {
break lab1;
}
this.cursor += 1;
break;
}
break;
}
this.cursor = v_2;
lab1: {
if (!(this.eq_s("divan"))) {
break lab1;
}
break;
}
this.cursor = v_2;
if (!(this.out_grouping(ItalianStemmer.g_v))) {
break lab0;
}
while (true) {
v_4 = this.cursor;
lab1: {
if (!(this.out_grouping(ItalianStemmer.g_v))) {
break lab1;
}
if (!(this.go_out_grouping(ItalianStemmer.g_v))) {
break lab1;
}
this.cursor += 1;
break;
}
this.cursor = v_4;
if (!(this.in_grouping(ItalianStemmer.g_v))) {
break lab0;
}
if (this.cursor >= this.limit) {
break lab0;
}
this.cursor += 1;
break;
}
break;
}
this.I_pV = this.cursor;
}
this.cursor = v_1;
v_5 = this.cursor;
lab0: {
if (!(this.go_out_grouping(ItalianStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
if (!(this.go_in_grouping(ItalianStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
this.I_p1 = this.cursor;
if (!(this.go_out_grouping(ItalianStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
if (!(this.go_in_grouping(ItalianStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
this.I_p2 = this.cursor;
}
this.cursor = v_5;
return true;
}
r_postlude() {
let among_var, v_1;
while (true) {
v_1 = this.cursor;
lab0: {
this.bra = this.cursor;
among_var = this.find_among(ItalianStemmer.a_2);
this.ket = this.cursor;
if (among_var === 1) {
this.slice_from("i");
} else {
if (among_var === 2) {
this.slice_from("u");
} else {
if (this.cursor >= this.limit) {
break lab0;
}
this.cursor += 1;
}
}
continue;
}
this.cursor = v_1;
break;
}
return true;
}
r_RV() {
return this.I_pV <= this.cursor;
}
r_R2() {
return this.I_p2 <= this.cursor;
}
r_attached_pronoun() {
let among_var;
this.ket = this.cursor;
if (this.find_among_b(ItalianStemmer.a_3) === 0) {
return false;
}
this.bra = this.cursor;
among_var = this.find_among_b(ItalianStemmer.a_4);
if (among_var === 0) {
return false;
}
if (!(this.r_RV())) {
return false;
}
this.slice_from(ItalianStemmer.as_4[among_var - (1)]);
return true;
}
r_standard_suffix() {
let among_var, v_1, v_2, v_3, v_4;
this.ket = this.cursor;
among_var = this.find_among_b(ItalianStemmer.a_7);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
if (among_var === 1) {
if (!(this.r_R2())) {
return false;
}
this.slice_del();
} else {
if (among_var === 2) {
if (!(this.r_R2())) {
return false;
}
this.slice_del();
v_1 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if (!(this.eq_s_b("ic"))) {
this.cursor = this.limit - (v_1);
break lab0;
}
this.bra = this.cursor;
if (!(this.r_R2())) {
this.cursor = this.limit - (v_1);
break lab0;
}
this.slice_del();
}
} else {
if (among_var === 3) {
if (!(this.r_R2())) {
return false;
}
this.slice_from("log");
} else {
if (among_var === 4) {
if (!(this.r_R2())) {
return false;
}
this.slice_from("u");
} else {
if (among_var === 5) {
if (!(this.r_R2())) {
return false;
}
this.slice_from("ente");
} else {
if (among_var === 6) {
if (!(this.r_RV())) {
return false;
}
this.slice_del();
} else {
if (among_var === 7) {
if (this.I_p1 > this.cursor) {
return false;
}
this.slice_del();
v_2 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
among_var = this.find_among_b(ItalianStemmer.a_5);
if (among_var === 0) {
this.cursor = this.limit - (v_2);
break lab0;
}
this.bra = this.cursor;
if (!(this.r_R2())) {
this.cursor = this.limit - (v_2);
break lab0;
}
this.slice_del();
if (among_var === 1) {
this.ket = this.cursor;
if (!(this.eq_s_b("at"))) {
this.cursor = this.limit - (v_2);
break lab0;
}
this.bra = this.cursor;
if (!(this.r_R2())) {
this.cursor = this.limit - (v_2);
break lab0;
}
this.slice_del();
}
}
} else {
if (among_var === 8) {
if (!(this.r_R2())) {
return false;
}
this.slice_del();
v_3 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if (this.find_among_b(ItalianStemmer.a_6) === 0) {
this.cursor = this.limit - (v_3);
break lab0;
}
this.bra = this.cursor;
if (!(this.r_R2())) {
this.cursor = this.limit - (v_3);
break lab0;
}
this.slice_del();
}
} else {
if (!(this.r_R2())) {
return false;
}
this.slice_del();
v_4 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if (!(this.eq_s_b("at"))) {
this.cursor = this.limit - (v_4);
break lab0;
}
this.bra = this.cursor;
if (!(this.r_R2())) {
this.cursor = this.limit - (v_4);
break lab0;
}
this.slice_del();
this.ket = this.cursor;
if (!(this.eq_s_b("ic"))) {
this.cursor = this.limit - (v_4);
break lab0;
}
this.bra = this.cursor;
if (!(this.r_R2())) {
this.cursor = this.limit - (v_4);
break lab0;
}
this.slice_del();
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
r_verb_suffix() {
let v_2;
if (this.cursor < this.I_pV) {
return false;
}
v_2 = this.limit_backward;
this.limit_backward = this.I_pV;
this.ket = this.cursor;
if (this.find_among_b(ItalianStemmer.a_8) === 0) {
this.limit_backward = v_2;
return false;
}
this.bra = this.cursor;
this.slice_del();
this.limit_backward = v_2;
return true;
}
r_vowel_suffix() {
let v_1, v_2;
v_1 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if (!(this.in_grouping_b(ItalianStemmer.g_AEIO))) {
this.cursor = this.limit - (v_1);
break lab0;
}
this.bra = this.cursor;
if (!(this.r_RV())) {
this.cursor = this.limit - (v_1);
break lab0;
}
this.slice_del();
this.ket = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "i")) {
this.cursor = this.limit - (v_1);
break lab0;
}
this.cursor -= 1;
this.bra = this.cursor;
if (!(this.r_RV())) {
this.cursor = this.limit - (v_1);
break lab0;
}
this.slice_del();
}
v_2 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "h")) {
this.cursor = this.limit - (v_2);
break lab0;
}
this.cursor -= 1;
this.bra = this.cursor;
if (!(this.in_grouping_b(ItalianStemmer.g_CG))) {
this.cursor = this.limit - (v_2);
break lab0;
}
if (!(this.r_RV())) {
this.cursor = this.limit - (v_2);
break lab0;
}
this.slice_del();
}
return true;
}
_stem() {
let v_1, v_2, v_3, v_4, v_5, v_6, v_7;
v_1 = this.cursor;
this.r_elisions();
this.cursor = v_1;
v_2 = this.cursor;
this.r_prelude();
this.cursor = v_2;
this.r_mark_regions();
this.limit_backward = this.cursor;
this.cursor = this.limit;
v_3 = this.limit - (this.cursor);
this.r_attached_pronoun();
this.cursor = this.limit - (v_3);
v_4 = this.limit - (this.cursor);
lab0: {
while (true) {
v_5 = this.limit - (this.cursor);
lab1: {
if (!(this.r_standard_suffix())) {
break lab1;
}
break;
}
this.cursor = this.limit - (v_5);
if (!(this.r_verb_suffix())) {
break lab0;
}
break;
}
}
this.cursor = this.limit - (v_4);
v_6 = this.limit - (this.cursor);
this.r_vowel_suffix();
this.cursor = this.limit - (v_6);
this.cursor = this.limit_backward;
v_7 = this.cursor;
this.r_postlude();
this.cursor = v_7;
return true;
}
static a_0 = [["all'",-1,-1],["d'",-1,-1],["dall'",-1,-1],["dell'",-1,-1],["gl'",-1,-1],["l'",-1,-1],["m'",-1,-1],["nell'",-1,-1],["quell'",-1,-1],["quest'",-1,-1],["s'",-1,-1],["sull'",-1,-1],["t'",-1,-1],["tutt'",-1,-1],["un'",-1,-1],["v'",-1,-1]];
static a_1 = [["",-1,7],["qu",0,6],["á",0,1],["é",0,2],["í",0,3],["ó",0,4],["ú",0,5]];
static a_2 = [["",-1,3],["I",0,1],["U",0,2]];
static a_3 = [["la",-1,-1],["cela",0,-1],["gliela",0,-1],["mela",0,-1],["tela",0,-1],["vela",0,-1],["le",-1,-1],["cele",6,-1],["gliele",6,-1],["mele",6,-1],["tele",6,-1],["vele",6,-1],["ne",-1,-1],["cene",12,-1],["gliene",12,-1],["mene",12,-1],["sene",12,-1],["tene",12,-1],["vene",12,-1],["ci",-1,-1],["li",-1,-1],["celi",20,-1],["glieli",20,-1],["meli",20,-1],["teli",20,-1],["veli",20,-1],["gli",20,-1],["mi",-1,-1],["si",-1,-1],["ti",-1,-1],["vi",-1,-1],["lo",-1,-1],["celo",31,-1],["glielo",31,-1],["melo",31,-1],["telo",31,-1],["velo",31,-1]];
static a_4 = [["ando",-1,1],["endo",-1,1],["ar",-1,2],["er",-1,2],["ir",-1,2]];
static as_4 = ["","e"];
static a_5 = [["ic",-1,-1],["abil",-1,-1],["os",-1,-1],["iv",-1,1]];
static a_6 = [["ic",-1,1],["abil",-1,1],["iv",-1,1]];
static a_7 = [["ica",-1,1],["logia",-1,3],["osa",-1,1],["ista",-1,1],["iva",-1,9],["anza",-1,1],["enza",-1,5],["ice",-1,1],["atrice",7,1],["iche",-1,1],["logie",-1,3],["abile",-1,1],["ibile",-1,1],["usione",-1,4],["azione",-1,2],["uzione",-1,4],["atore",-1,2],["ose",-1,1],["ante",-1,1],["mente",-1,1],["amente",19,7],["iste",-1,1],["ive",-1,9],["anze",-1,1],["enze",-1,5],["ici",-1,1],["atrici",25,1],["ichi",-1,1],["abili",-1,1],["ibili",-1,1],["ismi",-1,1],["usioni",-1,4],["azioni",-1,2],["uzioni",-1,4],["atori",-1,2],["osi",-1,1],["anti",-1,1],["amenti",-1,6],["imenti",-1,6],["isti",-1,1],["ivi",-1,9],["ico",-1,1],["ismo",-1,1],["oso",-1,1],["amento",-1,6],["imento",-1,6],["ivo",-1,9],["ità",-1,8],["istà",-1,1],["istè",-1,1],["istì",-1,1]];
static a_8 = [["isca",-1,1],["enda",-1,1],["ata",-1,1],["ita",-1,1],["uta",-1,1],["ava",-1,1],["eva",-1,1],["iva",-1,1],["erebbe",-1,1],["irebbe",-1,1],["isce",-1,1],["ende",-1,1],["are",-1,1],["ere",-1,1],["ire",-1,1],["asse",-1,1],["ate",-1,1],["avate",16,1],["evate",16,1],["ivate",16,1],["ete",-1,1],["erete",20,1],["irete",20,1],["ite",-1,1],["ereste",-1,1],["ireste",-1,1],["ute",-1,1],["erai",-1,1],["irai",-1,1],["isci",-1,1],["endi",-1,1],["erei",-1,1],["irei",-1,1],["assi",-1,1],["ati",-1,1],["iti",-1,1],["eresti",-1,1],["iresti",-1,1],["uti",-1,1],["avi",-1,1],["evi",-1,1],["ivi",-1,1],["isco",-1,1],["ando",-1,1],["endo",-1,1],["Yamo",-1,1],["iamo",-1,1],["avamo",-1,1],["evamo",-1,1],["ivamo",-1,1],["eremo",-1,1],["iremo",-1,1],["assimo",-1,1],["ammo",-1,1],["emmo",-1,1],["eremmo",54,1],["iremmo",54,1],["immo",-1,1],["ano",-1,1],["iscano",58,1],["avano",58,1],["evano",58,1],["ivano",58,1],["eranno",-1,1],["iranno",-1,1],["ono",-1,1],["iscono",65,1],["arono",65,1],["erono",65,1],["irono",65,1],["erebbero",-1,1],["irebbero",-1,1],["assero",-1,1],["essero",-1,1],["issero",-1,1],["ato",-1,1],["ito",-1,1],["uto",-1,1],["avo",-1,1],["evo",-1,1],["ivo",-1,1],["ar",-1,1],["ir",-1,1],["erà",-1,1],["irà",-1,1],["erò",-1,1],["irò",-1,1]];
}
export default ItalianStemmer;
