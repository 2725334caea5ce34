// Generated from portuguese.sbl by Snowball 3.1.1 - https://snowballstem.org/; BSD, see LICENSE
import { Snowball } from "./snowball.js";
class PortugueseStemmer extends Snowball {
I_p2 = 0;
I_p1 = 0;
I_pV = 0;
static g_v = new Set("aeiouáâéêíóôú");
r_prelude() {
let among_var, v_1;
while (true) {
v_1 = this.cursor;
lab0: {
this.bra = this.cursor;
among_var = this.find_among(PortugueseStemmer.a_0);
this.ket = this.cursor;
if (among_var === 1) {
this.slice_from("a~");
} else {
if (among_var === 2) {
this.slice_from("o~");
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
if (!(this.in_grouping(PortugueseStemmer.g_v))) {
break lab1;
}
while (true) {
v_3 = this.cursor;
lab2: {
if (!(this.out_grouping(PortugueseStemmer.g_v))) {
break lab2;
}
if (!(this.go_out_grouping(PortugueseStemmer.g_v))) {
break lab2;
}
this.cursor += 1;
break;
}
this.cursor = v_3;
if (!(this.in_grouping(PortugueseStemmer.g_v))) {
break lab1;
}
if (!(this.go_in_grouping(PortugueseStemmer.g_v))) {
break lab1;
}
this.cursor += 1;
break;
}
break;
}
this.cursor = v_2;
if (!(this.out_grouping(PortugueseStemmer.g_v))) {
break lab0;
}
while (true) {
v_4 = this.cursor;
lab1: {
if (!(this.out_grouping(PortugueseStemmer.g_v))) {
break lab1;
}
if (!(this.go_out_grouping(PortugueseStemmer.g_v))) {
break lab1;
}
this.cursor += 1;
break;
}
this.cursor = v_4;
if (!(this.in_grouping(PortugueseStemmer.g_v))) {
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
if (!(this.go_out_grouping(PortugueseStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
if (!(this.go_in_grouping(PortugueseStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
this.I_p1 = this.cursor;
if (!(this.go_out_grouping(PortugueseStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
if (!(this.go_in_grouping(PortugueseStemmer.g_v))) {
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
among_var = this.find_among(PortugueseStemmer.a_1);
this.ket = this.cursor;
if (among_var === 1) {
this.slice_from("ã");
} else {
if (among_var === 2) {
this.slice_from("õ");
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
r_standard_suffix() {
let among_var, v_1, v_2, v_3, v_4;
this.ket = this.cursor;
among_var = this.find_among_b(PortugueseStemmer.a_5);
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
this.slice_from("log");
} else {
if (among_var === 3) {
if (!(this.r_R2())) {
return false;
}
this.slice_from("u");
} else {
if (among_var === 4) {
if (!(this.r_R2())) {
return false;
}
this.slice_from("ente");
} else {
if (among_var === 5) {
if (this.I_p1 > this.cursor) {
return false;
}
this.slice_del();
v_1 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
among_var = this.find_among_b(PortugueseStemmer.a_2);
if (among_var === 0) {
this.cursor = this.limit - (v_1);
break lab0;
}
this.bra = this.cursor;
if (!(this.r_R2())) {
this.cursor = this.limit - (v_1);
break lab0;
}
this.slice_del();
if (among_var === 1) {
this.ket = this.cursor;
if (!(this.eq_s_b("at"))) {
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
}
} else {
if (among_var === 6) {
if (!(this.r_R2())) {
return false;
}
this.slice_del();
v_2 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if (this.find_among_b(PortugueseStemmer.a_3) === 0) {
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
} else {
if (among_var === 7) {
if (!(this.r_R2())) {
return false;
}
this.slice_del();
v_3 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if (this.find_among_b(PortugueseStemmer.a_4) === 0) {
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
if (among_var === 8) {
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
}
} else {
if (!(this.r_RV())) {
return false;
}
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "e")) {
return false;
}
this.cursor -= 1;
this.slice_from("ir");
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
if (this.find_among_b(PortugueseStemmer.a_6) === 0) {
this.limit_backward = v_2;
return false;
}
this.bra = this.cursor;
this.slice_del();
this.limit_backward = v_2;
return true;
}
r_residual_suffix() {
this.ket = this.cursor;
if (this.find_among_b(PortugueseStemmer.a_7) === 0) {
return false;
}
this.bra = this.cursor;
if (!(this.r_RV())) {
return false;
}
this.slice_del();
return true;
}
r_residual_form() {
let among_var, v_1, v_2, v_3;
this.ket = this.cursor;
among_var = this.find_among_b(PortugueseStemmer.a_8);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
if (among_var === 1) {
if (!(this.r_RV())) {
return false;
}
this.slice_del();
this.ket = this.cursor;
while (true) {
v_1 = this.limit - (this.cursor);
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "u")) {
break lab0;
}
this.cursor -= 1;
this.bra = this.cursor;
v_2 = this.limit - (this.cursor);
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "g")) {
break lab0;
}
this.cursor -= 1;
this.cursor = this.limit - (v_2);
break;
}
this.cursor = this.limit - (v_1);
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "i")) {
return false;
}
this.cursor -= 1;
this.bra = this.cursor;
v_3 = this.limit - (this.cursor);
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "c")) {
return false;
}
this.cursor -= 1;
this.cursor = this.limit - (v_3);
break;
}
if (!(this.r_RV())) {
return false;
}
this.slice_del();
} else {
this.slice_from("c");
}
return true;
}
_stem() {
let v_1, v_2, v_3, v_4, v_5, v_6, v_7, v_8, v_9;
v_1 = this.cursor;
this.r_prelude();
this.cursor = v_1;
this.r_mark_regions();
this.limit_backward = this.cursor;
this.cursor = this.limit;
v_2 = this.limit - (this.cursor);
lab0: {
while (true) {
v_3 = this.limit - (this.cursor);
lab1: {
v_4 = this.limit - (this.cursor);
while (true) {
v_5 = this.limit - (this.cursor);
lab2: {
if (!(this.r_standard_suffix())) {
break lab2;
}
break;
}
this.cursor = this.limit - (v_5);
if (!(this.r_verb_suffix())) {
break lab1;
}
break;
}
this.cursor = this.limit - (v_4);
v_6 = this.limit - (this.cursor);
lab2: {
this.ket = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "i")) {
break lab2;
}
this.cursor -= 1;
this.bra = this.cursor;
v_7 = this.limit - (this.cursor);
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "c")) {
break lab2;
}
this.cursor -= 1;
this.cursor = this.limit - (v_7);
if (!(this.r_RV())) {
break lab2;
}
this.slice_del();
}
this.cursor = this.limit - (v_6);
break;
}
this.cursor = this.limit - (v_3);
if (!(this.r_residual_suffix())) {
break lab0;
}
break;
}
}
this.cursor = this.limit - (v_2);
v_8 = this.limit - (this.cursor);
this.r_residual_form();
this.cursor = this.limit - (v_8);
this.cursor = this.limit_backward;
v_9 = this.cursor;
this.r_postlude();
this.cursor = v_9;
return true;
}
static a_0 = [["",-1,3],["ã",0,1],["õ",0,2]];
static a_1 = [["",-1,3],["a~",0,1],["o~",0,2]];
static a_2 = [["ic",-1,-1],["ad",-1,-1],["os",-1,-1],["iv",-1,1]];
static a_3 = [["ante",-1,1],["avel",-1,1],["ível",-1,1]];
static a_4 = [["ic",-1,1],["abil",-1,1],["iv",-1,1]];
static a_5 = [["ica",-1,1],["ância",-1,1],["ência",-1,4],["logia",-1,2],["ira",-1,9],["adora",-1,1],["osa",-1,1],["ista",-1,1],["iva",-1,8],["eza",-1,1],["idade",-1,7],["ante",-1,1],["mente",-1,6],["amente",12,5],["ável",-1,1],["ível",-1,1],["ico",-1,1],["ismo",-1,1],["oso",-1,1],["amento",-1,1],["imento",-1,1],["ivo",-1,8],["aça~o",-1,1],["uça~o",-1,3],["ador",-1,1],["icas",-1,1],["ências",-1,4],["logias",-1,2],["iras",-1,9],["adoras",-1,1],["osas",-1,1],["istas",-1,1],["ivas",-1,8],["ezas",-1,1],["idades",-1,7],["adores",-1,1],["antes",-1,1],["aço~es",-1,1],["uço~es",-1,3],["icos",-1,1],["ismos",-1,1],["osos",-1,1],["amentos",-1,1],["imentos",-1,1],["ivos",-1,8]];
static a_6 = [["ada",-1,1],["ida",-1,1],["ia",-1,1],["aria",2,1],["eria",2,1],["iria",2,1],["ara",-1,1],["era",-1,1],["ira",-1,1],["ava",-1,1],["asse",-1,1],["esse",-1,1],["isse",-1,1],["aste",-1,1],["este",-1,1],["iste",-1,1],["ei",-1,1],["arei",16,1],["erei",16,1],["irei",16,1],["am",-1,1],["iam",20,1],["ariam",21,1],["eriam",21,1],["iriam",21,1],["aram",20,1],["eram",20,1],["iram",20,1],["avam",20,1],["em",-1,1],["arem",29,1],["erem",29,1],["irem",29,1],["assem",29,1],["essem",29,1],["issem",29,1],["ado",-1,1],["ido",-1,1],["ando",-1,1],["endo",-1,1],["indo",-1,1],["ara~o",-1,1],["era~o",-1,1],["ira~o",-1,1],["ar",-1,1],["er",-1,1],["ir",-1,1],["as",-1,1],["adas",47,1],["idas",47,1],["ias",47,1],["arias",50,1],["erias",50,1],["irias",50,1],["aras",47,1],["eras",47,1],["iras",47,1],["avas",47,1],["es",-1,1],["ardes",58,1],["erdes",58,1],["irdes",58,1],["ares",58,1],["eres",58,1],["ires",58,1],["asses",58,1],["esses",58,1],["isses",58,1],["astes",58,1],["estes",58,1],["istes",58,1],["is",-1,1],["ais",71,1],["eis",71,1],["areis",73,1],["ereis",73,1],["ireis",73,1],["áreis",73,1],["éreis",73,1],["íreis",73,1],["ásseis",73,1],["ésseis",73,1],["ísseis",73,1],["áveis",73,1],["íeis",73,1],["aríeis",84,1],["eríeis",84,1],["iríeis",84,1],["ados",-1,1],["idos",-1,1],["amos",-1,1],["áramos",90,1],["éramos",90,1],["íramos",90,1],["ávamos",90,1],["íamos",90,1],["aríamos",95,1],["eríamos",95,1],["iríamos",95,1],["emos",-1,1],["aremos",99,1],["eremos",99,1],["iremos",99,1],["ássemos",99,1],["êssemos",99,1],["íssemos",99,1],["imos",-1,1],["armos",-1,1],["ermos",-1,1],["irmos",-1,1],["ámos",-1,1],["arás",-1,1],["erás",-1,1],["irás",-1,1],["eu",-1,1],["iu",-1,1],["ou",-1,1],["ará",-1,1],["erá",-1,1],["irá",-1,1]];
static a_7 = [["a",-1,1],["i",-1,1],["o",-1,1],["os",-1,1],["á",-1,1],["í",-1,1],["ó",-1,1]];
static a_8 = [["e",-1,1],["ç",-1,2],["é",-1,1],["ê",-1,1]];
}
export default PortugueseStemmer;
