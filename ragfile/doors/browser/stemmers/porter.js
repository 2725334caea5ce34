// Generated from porter.sbl by Snowball 3.1.1 - https://snowballstem.org/; BSD, see LICENSE
import { Snowball } from "./snowball.js";
class PorterStemmer extends Snowball {
I_p2 = 0;
I_p1 = 0;
static g_v = new Set("aeiouy");
static g_v_WXY = new Set("Yaeiouwxy");
r_shortv() {
if (!(this.out_grouping_b(PorterStemmer.g_v_WXY))) {
return false;
}
if (!(this.in_grouping_b(PorterStemmer.g_v))) {
return false;
}
return this.out_grouping_b(PorterStemmer.g_v);
}
r_R1() {
return this.I_p1 <= this.cursor;
}
r_R2() {
return this.I_p2 <= this.cursor;
}
r_Step_1a() {
let among_var;
this.ket = this.cursor;
among_var = this.find_among_b(PorterStemmer.a_0);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
if (among_var > 0) {
this.slice_from(PorterStemmer.as_0[among_var - (1)]);
}
return true;
}
r_Step_1b() {
let among_var, c, v_1, v_2, v_3;
this.ket = this.cursor;
among_var = this.find_among_b(PorterStemmer.a_2);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
if (among_var === 1) {
if (!(this.r_R1())) {
return false;
}
this.slice_from("ee");
} else {
v_1 = this.limit - (this.cursor);
if (!(this.go_out_grouping_b(PorterStemmer.g_v))) {
return false;
}
this.cursor -= 1;
this.cursor = this.limit - (v_1);
this.slice_del();
v_2 = this.limit - (this.cursor);
among_var = this.find_among_b(PorterStemmer.a_1);
this.cursor = this.limit - (v_2);
if (among_var === 1) {
c = this.cursor;
this.insert(this.cursor, this.cursor, "e");
this.cursor = c;
} else {
if (among_var === 2) {
this.ket = this.cursor;
if (this.cursor <= this.limit_backward) {
return false;
}
this.cursor -= 1;
this.bra = this.cursor;
this.slice_del();
} else {
if (this.cursor !== this.I_p1) {
return false;
}
v_3 = this.limit - (this.cursor);
if (!(this.r_shortv())) {
return false;
}
this.cursor = this.limit - (v_3);
c = this.cursor;
this.insert(this.cursor, this.cursor, "e");
this.cursor = c;
}
}
}
return true;
}
r_Step_1c() {
this.ket = this.cursor;
while (true) {
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "y")) {
break lab0;
}
this.cursor -= 1;
break;
}
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "Y")) {
return false;
}
this.cursor -= 1;
break;
}
this.bra = this.cursor;
if (!(this.go_out_grouping_b(PorterStemmer.g_v))) {
return false;
}
this.cursor -= 1;
this.slice_from("i");
return true;
}
r_Step_2() {
let among_var;
this.ket = this.cursor;
among_var = this.find_among_b(PorterStemmer.a_3);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
if (!(this.r_R1())) {
return false;
}
this.slice_from(PorterStemmer.as_3[among_var - (1)]);
return true;
}
r_Step_3() {
let among_var;
this.ket = this.cursor;
among_var = this.find_among_b(PorterStemmer.a_4);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
if (!(this.r_R1())) {
return false;
}
this.slice_from(PorterStemmer.as_4[among_var - (1)]);
return true;
}
r_Step_4() {
let among_var;
this.ket = this.cursor;
among_var = this.find_among_b(PorterStemmer.a_5);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
if (!(this.r_R2())) {
return false;
}
if (among_var === 1) {
this.slice_del();
} else {
while (true) {
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "s")) {
break lab0;
}
this.cursor -= 1;
break;
}
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "t")) {
return false;
}
this.cursor -= 1;
break;
}
this.slice_del();
}
return true;
}
r_Step_5a() {
let v_1;
this.ket = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "e")) {
return false;
}
this.cursor -= 1;
this.bra = this.cursor;
while (true) {
lab0: {
if (!(this.r_R2())) {
break lab0;
}
break;
}
if (!(this.r_R1())) {
return false;
}
v_1 = this.limit - (this.cursor);
lab0: {
if (!(this.r_shortv())) {
break lab0;
}
return false;
}
this.cursor = this.limit - (v_1);
break;
}
this.slice_del();
return true;
}
r_Step_5b() {
this.ket = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "l")) {
return false;
}
this.cursor -= 1;
this.bra = this.cursor;
if (!(this.r_R2())) {
return false;
}
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "l")) {
return false;
}
this.cursor -= 1;
this.slice_del();
return true;
}
_stem() {
let B_Y_found, v_1, v_10, v_11, v_12, v_13, v_14, v_15, v_16, v_2, v_3, v_4, v_5, v_6, v_7, v_8, v_9;
B_Y_found = false;
v_1 = this.cursor;
lab0: {
this.bra = this.cursor;
if ((this.cursor === this.limit) || (this.current[this.cursor] !== "y")) {
break lab0;
}
this.cursor += 1;
this.ket = this.cursor;
this.slice_from("Y");
B_Y_found = true;
}
this.cursor = v_1;
v_2 = this.cursor;
lab0: {
while (true) {
v_3 = this.cursor;
lab1: {
while (true) {
v_4 = this.cursor;
lab2: {
if (!(this.in_grouping(PorterStemmer.g_v))) {
break lab2;
}
this.bra = this.cursor;
if ((this.cursor === this.limit) || (this.current[this.cursor] !== "y")) {
break lab2;
}
this.cursor += 1;
this.ket = this.cursor;
this.cursor = v_4;
break;
}
this.cursor = v_4;
if (this.cursor >= this.limit) {
break lab1;
}
this.cursor += 1;
}
this.slice_from("Y");
B_Y_found = true;
continue;
}
this.cursor = v_3;
break;
}
}
this.cursor = v_2;
this.I_p1 = this.limit;
this.I_p2 = this.limit;
v_5 = this.cursor;
lab0: {
if (!(this.go_out_grouping(PorterStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
if (!(this.go_in_grouping(PorterStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
this.I_p1 = this.cursor;
if (!(this.go_out_grouping(PorterStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
if (!(this.go_in_grouping(PorterStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
this.I_p2 = this.cursor;
}
this.cursor = v_5;
this.limit_backward = this.cursor;
this.cursor = this.limit;
v_6 = this.limit - (this.cursor);
this.r_Step_1a();
this.cursor = this.limit - (v_6);
v_7 = this.limit - (this.cursor);
this.r_Step_1b();
this.cursor = this.limit - (v_7);
v_8 = this.limit - (this.cursor);
this.r_Step_1c();
this.cursor = this.limit - (v_8);
v_9 = this.limit - (this.cursor);
this.r_Step_2();
this.cursor = this.limit - (v_9);
v_10 = this.limit - (this.cursor);
this.r_Step_3();
this.cursor = this.limit - (v_10);
v_11 = this.limit - (this.cursor);
this.r_Step_4();
this.cursor = this.limit - (v_11);
v_12 = this.limit - (this.cursor);
this.r_Step_5a();
this.cursor = this.limit - (v_12);
v_13 = this.limit - (this.cursor);
this.r_Step_5b();
this.cursor = this.limit - (v_13);
this.cursor = this.limit_backward;
v_14 = this.cursor;
lab0: {
if (!(B_Y_found)) {
break lab0;
}
while (true) {
v_15 = this.cursor;
lab1: {
while (true) {
v_16 = this.cursor;
lab2: {
this.bra = this.cursor;
if ((this.cursor === this.limit) || (this.current[this.cursor] !== "Y")) {
break lab2;
}
this.cursor += 1;
this.ket = this.cursor;
this.cursor = v_16;
break;
}
this.cursor = v_16;
if (this.cursor >= this.limit) {
break lab1;
}
this.cursor += 1;
}
this.slice_from("y");
continue;
}
this.cursor = v_15;
break;
}
}
this.cursor = v_14;
return true;
}
static a_0 = [["s",-1,3],["ies",0,2],["sses",0,1],["ss",0,-1]];
static as_0 = ["ss","i",""];
static a_1 = [["",-1,3],["bb",0,2],["dd",0,2],["ff",0,2],["gg",0,2],["bl",0,1],["mm",0,2],["nn",0,2],["pp",0,2],["rr",0,2],["at",0,1],["tt",0,2],["iz",0,1]];
static a_2 = [["ed",-1,2],["eed",0,1],["ing",-1,2]];
static a_3 = [["anci",-1,3],["enci",-1,2],["abli",-1,4],["eli",-1,6],["alli",-1,9],["ousli",-1,11],["entli",-1,5],["aliti",-1,9],["biliti",-1,13],["iviti",-1,12],["tional",-1,1],["ational",10,8],["alism",-1,9],["ation",-1,8],["ization",13,7],["izer",-1,7],["ator",-1,8],["iveness",-1,12],["fulness",-1,10],["ousness",-1,11]];
static as_3 = ["tion","ence","ance","able","ent","e","ize","ate","al","ful","ous","ive","ble"];
static a_4 = [["icate",-1,2],["ative",-1,3],["alize",-1,1],["iciti",-1,2],["ical",-1,2],["ful",-1,3],["ness",-1,3]];
static as_4 = ["al","ic",""];
static a_5 = [["ic",-1,1],["ance",-1,1],["ence",-1,1],["able",-1,1],["ible",-1,1],["ate",-1,1],["ive",-1,1],["ize",-1,1],["iti",-1,1],["al",-1,1],["ism",-1,1],["ion",-1,2],["er",-1,1],["ous",-1,1],["ant",-1,1],["ent",-1,1],["ment",15,1],["ement",16,1],["ou",-1,1]];
}
export default PorterStemmer;
