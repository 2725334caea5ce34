// Generated from french.sbl by Snowball 3.1.1 - https://snowballstem.org/; BSD, see LICENSE
import { Snowball } from "./snowball.js";
class FrenchStemmer extends Snowball {
I_p2 = 0;
I_p1 = 0;
I_pV = 0;
static g_v = new Set("aeiouyàâèéêëîïôùû");
static g_oux_ending = new Set("bhjlnp");
static g_elision_char = new Set("cdjlmnst");
static g_keep_with_s = new Set("aiosuè");
r_elisions() {
this.bra = this.cursor;
while (true) {
lab0: {
if (!(this.in_grouping(FrenchStemmer.g_elision_char))) {
break lab0;
}
break;
}
if (!(this.eq_s("qu"))) {
return false;
}
break;
}
if ((this.cursor === this.limit) || (this.current[this.cursor] !== "'")) {
return false;
}
this.cursor += 1;
this.ket = this.cursor;
if (this.cursor >= this.limit) {
return false;
}
this.slice_del();
return true;
}
r_prelude() {
let v_1, v_2, v_3, v_4;
while (true) {
v_1 = this.cursor;
lab0: {
while (true) {
v_2 = this.cursor;
lab1: {
while (true) {
v_3 = this.cursor;
lab2: {
if (!(this.in_grouping(FrenchStemmer.g_v))) {
break lab2;
}
this.bra = this.cursor;
while (true) {
v_4 = this.cursor;
lab3: {
if ((this.cursor === this.limit) || (this.current[this.cursor] !== "u")) {
break lab3;
}
this.cursor += 1;
this.ket = this.cursor;
if (!(this.in_grouping(FrenchStemmer.g_v))) {
break lab3;
}
this.slice_from("U");
break;
}
this.cursor = v_4;
lab3: {
if ((this.cursor === this.limit) || (this.current[this.cursor] !== "i")) {
break lab3;
}
this.cursor += 1;
this.ket = this.cursor;
if (!(this.in_grouping(FrenchStemmer.g_v))) {
break lab3;
}
this.slice_from("I");
break;
}
this.cursor = v_4;
if ((this.cursor === this.limit) || (this.current[this.cursor] !== "y")) {
break lab2;
}
this.cursor += 1;
this.ket = this.cursor;
this.slice_from("Y");
break;
}
break;
}
this.cursor = v_3;
lab2: {
this.bra = this.cursor;
if ((this.cursor === this.limit) || (this.current[this.cursor] !== "ë")) {
break lab2;
}
this.cursor += 1;
this.ket = this.cursor;
this.slice_from("He");
break;
}
this.cursor = v_3;
lab2: {
this.bra = this.cursor;
if ((this.cursor === this.limit) || (this.current[this.cursor] !== "ï")) {
break lab2;
}
this.cursor += 1;
this.ket = this.cursor;
this.slice_from("Hi");
break;
}
this.cursor = v_3;
lab2: {
this.bra = this.cursor;
if ((this.cursor === this.limit) || (this.current[this.cursor] !== "y")) {
break lab2;
}
this.cursor += 1;
this.ket = this.cursor;
if (!(this.in_grouping(FrenchStemmer.g_v))) {
break lab2;
}
this.slice_from("Y");
break;
}
this.cursor = v_3;
if ((this.cursor === this.limit) || (this.current[this.cursor] !== "q")) {
break lab1;
}
this.cursor += 1;
this.bra = this.cursor;
if ((this.cursor === this.limit) || (this.current[this.cursor] !== "u")) {
break lab1;
}
this.cursor += 1;
this.ket = this.cursor;
this.slice_from("U");
break;
}
this.cursor = v_2;
break;
}
this.cursor = v_2;
if (this.cursor >= this.limit) {
break lab0;
}
this.cursor += 1;
}
continue;
}
this.cursor = v_1;
break;
}
return true;
}
r_mark_regions() {
let among_var, v_1, v_2, v_3;
this.I_pV = this.limit;
this.I_p1 = this.limit;
this.I_p2 = this.limit;
v_1 = this.cursor;
lab0: {
while (true) {
v_2 = this.cursor;
lab1: {
if (!(this.in_grouping(FrenchStemmer.g_v))) {
break lab1;
}
if (!(this.in_grouping(FrenchStemmer.g_v))) {
break lab1;
}
if (this.cursor >= this.limit) {
break lab1;
}
this.cursor += 1;
break;
}
this.cursor = v_2;
lab1: {
among_var = this.find_among(FrenchStemmer.a_0);
if (among_var === 0) {
break lab1;
}
if (among_var === 1) {
if (!(this.in_grouping(FrenchStemmer.g_v))) {
break lab1;
}
}
break;
}
this.cursor = v_2;
if (this.cursor >= this.limit) {
break lab0;
}
this.cursor += 1;
if (!(this.go_out_grouping(FrenchStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
break;
}
this.I_pV = this.cursor;
}
this.cursor = v_1;
v_3 = this.cursor;
lab0: {
if (!(this.go_out_grouping(FrenchStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
if (!(this.go_in_grouping(FrenchStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
this.I_p1 = this.cursor;
if (!(this.go_out_grouping(FrenchStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
if (!(this.go_in_grouping(FrenchStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
this.I_p2 = this.cursor;
}
this.cursor = v_3;
return true;
}
r_postlude() {
let among_var, v_1;
while (true) {
v_1 = this.cursor;
lab0: {
this.bra = this.cursor;
among_var = this.find_among(FrenchStemmer.a_1);
this.ket = this.cursor;
if (among_var === 1) {
this.slice_from("i");
} else {
if (among_var === 2) {
this.slice_from("u");
} else {
if (among_var === 3) {
this.slice_from("y");
} else {
if (among_var === 4) {
this.slice_from("ë");
} else {
if (among_var === 5) {
this.slice_from("ï");
} else {
if (among_var === 6) {
this.slice_del();
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
this.cursor = v_1;
break;
}
return true;
}
r_RV() {
return this.I_pV <= this.cursor;
}
r_R1() {
return this.I_p1 <= this.cursor;
}
r_R2() {
return this.I_p2 <= this.cursor;
}
r_standard_suffix() {
let among_var, v_1, v_10, v_11, v_2, v_3, v_4, v_5, v_6, v_7, v_8, v_9;
this.ket = this.cursor;
among_var = this.find_among_b(FrenchStemmer.a_4);
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
while (true) {
v_2 = this.limit - (this.cursor);
lab1: {
if (!(this.r_R2())) {
break lab1;
}
this.slice_del();
break;
}
this.cursor = this.limit - (v_2);
this.slice_from("iqU");
break;
}
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
this.slice_from("ent");
} else {
if (among_var === 6) {
if (!(this.r_RV())) {
return false;
}
this.slice_del();
v_3 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
among_var = this.find_among_b(FrenchStemmer.a_2);
if (among_var === 0) {
this.cursor = this.limit - (v_3);
break lab0;
}
this.bra = this.cursor;
if (among_var === 1) {
if (!(this.r_R2())) {
this.cursor = this.limit - (v_3);
break lab0;
}
this.slice_del();
this.ket = this.cursor;
if (!(this.eq_s_b("at"))) {
this.cursor = this.limit - (v_3);
break lab0;
}
this.bra = this.cursor;
if (!(this.r_R2())) {
this.cursor = this.limit - (v_3);
break lab0;
}
this.slice_del();
} else {
if (among_var === 2) {
while (true) {
v_4 = this.limit - (this.cursor);
lab1: {
if (!(this.r_R2())) {
break lab1;
}
this.slice_del();
break;
}
this.cursor = this.limit - (v_4);
if (!(this.r_R1())) {
this.cursor = this.limit - (v_3);
break lab0;
}
this.slice_from("eux");
break;
}
} else {
if (among_var === 3) {
if (!(this.r_R2())) {
this.cursor = this.limit - (v_3);
break lab0;
}
this.slice_del();
} else {
if (!(this.r_RV())) {
this.cursor = this.limit - (v_3);
break lab0;
}
this.slice_from("i");
}
}
}
}
} else {
if (among_var === 7) {
if (!(this.r_R2())) {
return false;
}
this.slice_del();
v_5 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
among_var = this.find_among_b(FrenchStemmer.a_3);
if (among_var === 0) {
this.cursor = this.limit - (v_5);
break lab0;
}
this.bra = this.cursor;
if (among_var === 1) {
while (true) {
v_6 = this.limit - (this.cursor);
lab1: {
if (!(this.r_R2())) {
break lab1;
}
this.slice_del();
break;
}
this.cursor = this.limit - (v_6);
this.slice_from("abl");
break;
}
} else {
if (among_var === 2) {
while (true) {
v_7 = this.limit - (this.cursor);
lab1: {
if (!(this.r_R2())) {
break lab1;
}
this.slice_del();
break;
}
this.cursor = this.limit - (v_7);
this.slice_from("iqU");
break;
}
} else {
if (!(this.r_R2())) {
this.cursor = this.limit - (v_5);
break lab0;
}
this.slice_del();
}
}
}
} else {
if (among_var === 8) {
if (!(this.r_R2())) {
return false;
}
this.slice_del();
v_8 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if (!(this.eq_s_b("at"))) {
this.cursor = this.limit - (v_8);
break lab0;
}
this.bra = this.cursor;
if (!(this.r_R2())) {
this.cursor = this.limit - (v_8);
break lab0;
}
this.slice_del();
this.ket = this.cursor;
if (!(this.eq_s_b("ic"))) {
this.cursor = this.limit - (v_8);
break lab0;
}
this.bra = this.cursor;
while (true) {
v_9 = this.limit - (this.cursor);
lab1: {
if (!(this.r_R2())) {
break lab1;
}
this.slice_del();
break;
}
this.cursor = this.limit - (v_9);
this.slice_from("iqU");
break;
}
}
} else {
if (among_var === 9) {
this.slice_from("eau");
} else {
if (among_var === 10) {
if (!(this.r_R1())) {
return false;
}
this.slice_from("al");
} else {
if (among_var === 11) {
if (!(this.in_grouping_b(FrenchStemmer.g_oux_ending))) {
return false;
}
this.slice_from("ou");
} else {
if (among_var === 12) {
while (true) {
v_10 = this.limit - (this.cursor);
lab0: {
if (!(this.r_R2())) {
break lab0;
}
this.slice_del();
break;
}
this.cursor = this.limit - (v_10);
if (!(this.r_R1())) {
return false;
}
this.slice_from("eux");
break;
}
} else {
if (among_var === 13) {
if (!(this.r_R1())) {
return false;
}
if (!(this.out_grouping_b(FrenchStemmer.g_v))) {
return false;
}
this.slice_del();
} else {
if (among_var === 14) {
if (!(this.r_RV())) {
return false;
}
this.slice_from("ant");
return false;
} else {
if (among_var === 15) {
if (!(this.r_RV())) {
return false;
}
this.slice_from("ent");
return false;
} else {
v_11 = this.limit - (this.cursor);
if (!(this.in_grouping_b(FrenchStemmer.g_v))) {
return false;
}
if (!(this.r_RV())) {
return false;
}
this.cursor = this.limit - (v_11);
this.slice_del();
return false;
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
}
}
return true;
}
r_i_verb_suffix() {
let v_2;
if (this.cursor < this.I_pV) {
return false;
}
v_2 = this.limit_backward;
this.limit_backward = this.I_pV;
this.ket = this.cursor;
if (this.find_among_b(FrenchStemmer.a_5) === 0) {
this.limit_backward = v_2;
return false;
}
this.bra = this.cursor;
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "H")) {
break lab0;
}
this.cursor -= 1;
this.limit_backward = v_2;
return false;
}
if (!(this.out_grouping_b(FrenchStemmer.g_v))) {
this.limit_backward = v_2;
return false;
}
this.slice_del();
this.limit_backward = v_2;
return true;
}
r_verb_suffix() {
let among_var, v_2, v_3, v_4;
if (this.cursor < this.I_pV) {
return false;
}
v_2 = this.limit_backward;
this.limit_backward = this.I_pV;
this.ket = this.cursor;
among_var = this.find_among_b(FrenchStemmer.a_7);
if (among_var === 0) {
this.limit_backward = v_2;
return false;
}
this.bra = this.cursor;
this.limit_backward = v_2;
if (among_var === 1) {
if (!(this.r_R2())) {
return false;
}
this.slice_del();
} else {
if (among_var === 2) {
this.slice_del();
} else {
if (among_var === 3) {
v_3 = this.limit - (this.cursor);
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "e")) {
this.cursor = this.limit - (v_3);
break lab0;
}
this.cursor -= 1;
if (!(this.r_RV())) {
this.cursor = this.limit - (v_3);
break lab0;
}
this.bra = this.cursor;
}
this.slice_del();
} else {
v_4 = this.limit - (this.cursor);
lab0: {
among_var = this.find_among_b(FrenchStemmer.a_6);
if (among_var === 0) {
break lab0;
}
if (among_var === 1) {
if (this.cursor <= this.limit_backward) {
break lab0;
}
this.cursor -= 1;
if (this.cursor > this.limit_backward) {
break lab0;
}
}
return false;
}
this.cursor = this.limit - (v_4);
this.slice_del();
}
}
}
return true;
}
r_residual_suffix() {
let among_var, v_1, v_2, v_4;
v_1 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "s")) {
this.cursor = this.limit - (v_1);
break lab0;
}
this.cursor -= 1;
this.bra = this.cursor;
v_2 = this.limit - (this.cursor);
while (true) {
lab1: {
if (!(this.eq_s_b("Hi"))) {
break lab1;
}
break;
}
if (!(this.out_grouping_b(FrenchStemmer.g_keep_with_s))) {
this.cursor = this.limit - (v_1);
break lab0;
}
break;
}
this.cursor = this.limit - (v_2);
this.slice_del();
}
if (this.cursor < this.I_pV) {
return false;
}
v_4 = this.limit_backward;
this.limit_backward = this.I_pV;
this.ket = this.cursor;
among_var = this.find_among_b(FrenchStemmer.a_8);
if (among_var === 0) {
this.limit_backward = v_4;
return false;
}
this.bra = this.cursor;
if (among_var === 1) {
if (!(this.r_R2())) {
this.limit_backward = v_4;
return false;
}
while (true) {
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "s")) {
break lab0;
}
this.cursor -= 1;
break;
}
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "t")) {
this.limit_backward = v_4;
return false;
}
this.cursor -= 1;
break;
}
this.slice_del();
} else {
if (among_var === 2) {
this.slice_from("i");
} else {
this.slice_del();
}
}
this.limit_backward = v_4;
return true;
}
r_un_double() {
let v_1;
v_1 = this.limit - (this.cursor);
if (this.find_among_b(FrenchStemmer.a_9) === 0) {
return false;
}
this.cursor = this.limit - (v_1);
this.ket = this.cursor;
if (this.cursor <= this.limit_backward) {
return false;
}
this.cursor -= 1;
this.bra = this.cursor;
this.slice_del();
return true;
}
r_un_accent() {
let v_1;
v_1 = 1;
while (true) {
lab0: {
if (!(this.out_grouping_b(FrenchStemmer.g_v))) {
break lab0;
}
v_1 -= 1;
continue;
}
break;
}
if (v_1 > 0) {
return false;
}
this.ket = this.cursor;
while (true) {
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "é")) {
break lab0;
}
this.cursor -= 1;
break;
}
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "è")) {
return false;
}
this.cursor -= 1;
break;
}
this.bra = this.cursor;
this.slice_from("e");
return true;
}
_stem() {
let v_1, v_10, v_11, v_2, v_3, v_4, v_5, v_6, v_7, v_8, v_9;
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
lab0: {
while (true) {
v_4 = this.limit - (this.cursor);
lab1: {
v_5 = this.limit - (this.cursor);
while (true) {
v_6 = this.limit - (this.cursor);
lab2: {
if (!(this.r_standard_suffix())) {
break lab2;
}
break;
}
this.cursor = this.limit - (v_6);
lab2: {
if (!(this.r_i_verb_suffix())) {
break lab2;
}
break;
}
this.cursor = this.limit - (v_6);
if (!(this.r_verb_suffix())) {
break lab1;
}
break;
}
this.cursor = this.limit - (v_5);
v_7 = this.limit - (this.cursor);
lab2: {
this.ket = this.cursor;
while (true) {
v_8 = this.limit - (this.cursor);
lab3: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "Y")) {
break lab3;
}
this.cursor -= 1;
this.bra = this.cursor;
this.slice_from("i");
break;
}
this.cursor = this.limit - (v_8);
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "ç")) {
this.cursor = this.limit - (v_7);
break lab2;
}
this.cursor -= 1;
this.bra = this.cursor;
this.slice_from("c");
break;
}
}
break;
}
this.cursor = this.limit - (v_4);
if (!(this.r_residual_suffix())) {
break lab0;
}
break;
}
}
this.cursor = this.limit - (v_3);
v_9 = this.limit - (this.cursor);
this.r_un_double();
this.cursor = this.limit - (v_9);
v_10 = this.limit - (this.cursor);
this.r_un_accent();
this.cursor = this.limit - (v_10);
this.cursor = this.limit_backward;
v_11 = this.cursor;
this.r_postlude();
this.cursor = v_11;
return true;
}
static a_0 = [["col",-1,-1],["ni",-1,1],["par",-1,-1],["tap",-1,-1]];
static a_1 = [["",-1,7],["H",0,6],["He",1,4],["Hi",1,5],["I",0,1],["U",0,2],["Y",0,3]];
static a_2 = [["iqU",-1,3],["abl",-1,3],["Ièr",-1,4],["ièr",-1,4],["eus",-1,2],["iv",-1,1]];
static a_3 = [["ic",-1,2],["abil",-1,1],["iv",-1,3]];
static a_4 = [["iqUe",-1,1],["atrice",-1,2],["ance",-1,1],["ence",-1,5],["logie",-1,3],["able",-1,1],["isme",-1,1],["euse",-1,12],["iste",-1,1],["ive",-1,8],["if",-1,8],["usion",-1,4],["ation",-1,2],["ution",-1,4],["ateur",-1,2],["iqUes",-1,1],["atrices",-1,2],["ances",-1,1],["ences",-1,5],["logies",-1,3],["ables",-1,1],["ismes",-1,1],["euses",-1,12],["istes",-1,1],["ives",-1,8],["ifs",-1,8],["usions",-1,4],["ations",-1,2],["utions",-1,4],["ateurs",-1,2],["ments",-1,16],["ements",30,6],["issements",31,13],["ités",-1,7],["ment",-1,16],["ement",34,6],["issement",35,13],["amment",34,14],["emment",34,15],["aux",-1,10],["eaux",39,9],["eux",-1,1],["oux",-1,11],["ité",-1,7]];
static a_5 = [["ira",-1,1],["ie",-1,1],["isse",-1,1],["issante",-1,1],["i",-1,1],["irai",4,1],["ir",-1,1],["iras",-1,1],["ies",-1,1],["îmes",-1,1],["isses",-1,1],["issantes",-1,1],["îtes",-1,1],["is",-1,1],["irais",13,1],["issais",13,1],["irions",-1,1],["issions",-1,1],["irons",-1,1],["issons",-1,1],["issants",-1,1],["it",-1,1],["irait",21,1],["issait",21,1],["issant",-1,1],["iraIent",-1,1],["issaIent",-1,1],["irent",-1,1],["issent",-1,1],["iront",-1,1],["ît",-1,1],["iriez",-1,1],["issiez",-1,1],["irez",-1,1],["issez",-1,1]];
static a_6 = [["al",-1,1],["épl",-1,-1],["auv",-1,-1]];
static a_7 = [["a",-1,3],["era",0,2],["aise",-1,4],["asse",-1,3],["ante",-1,3],["ée",-1,2],["ai",-1,3],["erai",6,2],["er",-1,2],["as",-1,3],["eras",9,2],["âmes",-1,3],["aises",-1,4],["asses",-1,3],["antes",-1,3],["âtes",-1,3],["ées",-1,2],["ais",-1,4],["eais",17,2],["erais",17,2],["ions",-1,1],["erions",20,2],["assions",20,3],["erons",-1,2],["ants",-1,3],["és",-1,2],["ait",-1,3],["erait",26,2],["ant",-1,3],["aIent",-1,3],["eraIent",29,2],["èrent",-1,2],["assent",-1,3],["eront",-1,2],["ât",-1,3],["ez",-1,2],["iez",35,2],["eriez",36,2],["assiez",36,3],["erez",35,2],["é",-1,2]];
static a_8 = [["e",-1,3],["Ière",0,2],["ière",0,2],["ion",-1,1],["Ier",-1,2],["ier",-1,2]];
static a_9 = [["ell",-1,-1],["eill",-1,-1],["enn",-1,-1],["onn",-1,-1],["ett",-1,-1]];
}
export default FrenchStemmer;
