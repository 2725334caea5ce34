// Generated from irish.sbl by Snowball 3.1.1 - https://snowballstem.org/; BSD, see LICENSE
import { Snowball } from "./snowball.js";
class IrishStemmer extends Snowball {
I_p2 = 0;
I_p1 = 0;
I_pV = 0;
static g_v = new Set("aeiouáéíóú");
r_mark_regions() {
let v_1;
this.I_pV = this.limit;
this.I_p1 = this.limit;
this.I_p2 = this.limit;
v_1 = this.cursor;
lab0: {
if (!(this.go_out_grouping(IrishStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
this.I_pV = this.cursor;
if (!(this.go_in_grouping(IrishStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
this.I_p1 = this.cursor;
if (!(this.go_out_grouping(IrishStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
if (!(this.go_in_grouping(IrishStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
this.I_p2 = this.cursor;
}
this.cursor = v_1;
return true;
}
r_initial_morph() {
let among_var;
this.bra = this.cursor;
among_var = this.find_among(IrishStemmer.a_0);
if (among_var === 0) {
return false;
}
this.ket = this.cursor;
this.slice_from(IrishStemmer.as_0[among_var - (1)]);
return true;
}
r_R1() {
return this.I_p1 <= this.cursor;
}
r_R2() {
return this.I_p2 <= this.cursor;
}
r_noun_sfx() {
let among_var;
this.ket = this.cursor;
among_var = this.find_among_b(IrishStemmer.a_1);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
if (among_var === 1) {
if (!(this.r_R1())) {
return false;
}
this.slice_del();
} else {
if (!(this.r_R2())) {
return false;
}
this.slice_del();
}
return true;
}
r_deriv() {
let among_var;
this.ket = this.cursor;
among_var = this.find_among_b(IrishStemmer.a_2);
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
this.slice_from("arc");
} else {
if (among_var === 3) {
this.slice_from("gin");
} else {
if (among_var === 4) {
this.slice_from("graf");
} else {
if (among_var === 5) {
this.slice_from("paite");
} else {
this.slice_from("óid");
}
}
}
}
}
return true;
}
r_verb_sfx() {
let among_var;
this.ket = this.cursor;
among_var = this.find_among_b(IrishStemmer.a_3);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
if (among_var === 1) {
if (this.I_pV > this.cursor) {
return false;
}
this.slice_del();
} else {
if (!(this.r_R1())) {
return false;
}
this.slice_del();
}
return true;
}
_stem() {
let v_1, v_2, v_3, v_4;
v_1 = this.cursor;
this.r_initial_morph();
this.cursor = v_1;
this.r_mark_regions();
this.limit_backward = this.cursor;
this.cursor = this.limit;
v_2 = this.limit - (this.cursor);
this.r_noun_sfx();
this.cursor = this.limit - (v_2);
v_3 = this.limit - (this.cursor);
this.r_deriv();
this.cursor = this.limit - (v_3);
v_4 = this.limit - (this.cursor);
this.r_verb_sfx();
this.cursor = this.limit - (v_4);
this.cursor = this.limit_backward;
return true;
}
static a_0 = [["b'",-1,1],["bh",-1,4],["bhf",1,2],["bp",-1,8],["ch",-1,5],["d'",-1,1],["d'fh",5,2],["dh",-1,6],["dt",-1,9],["fh",-1,2],["gc",-1,5],["gh",-1,7],["h-",-1,1],["m'",-1,1],["mb",-1,4],["mh",-1,10],["n-",-1,1],["nd",-1,6],["ng",-1,7],["ph",-1,8],["sh",-1,3],["t-",-1,1],["th",-1,9],["ts",-1,3]];
static as_0 = ["","f","s","b","c","d","g","p","t","m"];
static a_1 = [["íochta",-1,1],["aíochta",0,1],["ire",-1,2],["aire",2,2],["abh",-1,1],["eabh",4,1],["ibh",-1,1],["aibh",6,1],["amh",-1,1],["eamh",8,1],["imh",-1,1],["aimh",10,1],["íocht",-1,1],["aíocht",12,1],["irí",-1,2],["airí",14,2]];
static a_2 = [["óideacha",-1,6],["patacha",-1,5],["achta",-1,1],["arcachta",2,2],["eachta",2,1],["grafaíochta",-1,4],["paite",-1,5],["ach",-1,1],["each",7,1],["óideach",8,6],["gineach",8,3],["patach",7,5],["grafaíoch",-1,4],["pataigh",-1,5],["óidigh",-1,6],["achtúil",-1,1],["eachtúil",15,1],["gineas",-1,3],["ginis",-1,3],["acht",-1,1],["arcacht",19,2],["eacht",19,1],["grafaíocht",-1,4],["arcachtaí",-1,2],["grafaíochtaí",-1,4]];
static a_3 = [["imid",-1,1],["aimid",0,1],["ímid",-1,1],["aímid",2,1],["adh",-1,2],["eadh",4,2],["faidh",-1,1],["fidh",-1,1],["áil",-1,2],["ain",-1,2],["tear",-1,2],["tar",-1,2]];
}
export default IrishStemmer;
