// Generated from russian.sbl by Snowball 3.1.1 - https://snowballstem.org/; BSD, see LICENSE
import { Snowball } from "./snowball.js";
class RussianStemmer extends Snowball {
I_p2 = 0;
I_pV = 0;
static g_v = new Set("аеиоуыэюя");
r_mark_regions() {
let v_1;
this.I_pV = this.limit;
this.I_p2 = this.limit;
v_1 = this.cursor;
lab0: {
if (!(this.go_out_grouping(RussianStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
this.I_pV = this.cursor;
if (!(this.go_in_grouping(RussianStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
if (!(this.go_out_grouping(RussianStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
if (!(this.go_in_grouping(RussianStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
this.I_p2 = this.cursor;
}
this.cursor = v_1;
return true;
}
r_perfective_gerund() {
let among_var;
this.ket = this.cursor;
among_var = this.find_among_b(RussianStemmer.a_0);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
if (among_var === 1) {
while (true) {
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "а")) {
break lab0;
}
this.cursor -= 1;
break;
}
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "я")) {
return false;
}
this.cursor -= 1;
break;
}
this.slice_del();
} else {
this.slice_del();
}
return true;
}
r_adjective() {
this.ket = this.cursor;
if (this.find_among_b(RussianStemmer.a_1) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
return true;
}
r_adjectival() {
let among_var, v_1;
if (!(this.r_adjective())) {
return false;
}
v_1 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
among_var = this.find_among_b(RussianStemmer.a_2);
if (among_var === 0) {
this.cursor = this.limit - (v_1);
break lab0;
}
this.bra = this.cursor;
if (among_var === 1) {
while (true) {
lab1: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "а")) {
break lab1;
}
this.cursor -= 1;
break;
}
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "я")) {
this.cursor = this.limit - (v_1);
break lab0;
}
this.cursor -= 1;
break;
}
this.slice_del();
} else {
this.slice_del();
}
}
return true;
}
r_reflexive() {
this.ket = this.cursor;
if (this.find_among_b(RussianStemmer.a_3) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
return true;
}
r_verb() {
let among_var;
this.ket = this.cursor;
among_var = this.find_among_b(RussianStemmer.a_4);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
if (among_var === 1) {
while (true) {
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "а")) {
break lab0;
}
this.cursor -= 1;
break;
}
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "я")) {
return false;
}
this.cursor -= 1;
break;
}
this.slice_del();
} else {
this.slice_del();
}
return true;
}
r_noun() {
this.ket = this.cursor;
if (this.find_among_b(RussianStemmer.a_5) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
return true;
}
r_derivational() {
this.ket = this.cursor;
if (this.find_among_b(RussianStemmer.a_6) === 0) {
return false;
}
this.bra = this.cursor;
if (this.I_p2 > this.cursor) {
return false;
}
this.slice_del();
return true;
}
r_tidy_up() {
let among_var;
this.ket = this.cursor;
among_var = this.find_among_b(RussianStemmer.a_7);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
if (among_var === 1) {
this.slice_del();
this.ket = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "н")) {
return false;
}
this.cursor -= 1;
this.bra = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "н")) {
return false;
}
this.cursor -= 1;
this.slice_del();
} else {
if (among_var === 2) {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "н")) {
return false;
}
this.cursor -= 1;
this.slice_del();
} else {
this.slice_del();
}
}
return true;
}
_stem() {
let v_1, v_10, v_11, v_12, v_2, v_3, v_5, v_6, v_7, v_8, v_9;
v_1 = this.cursor;
lab0: {
while (true) {
v_2 = this.cursor;
lab1: {
while (true) {
v_3 = this.cursor;
lab2: {
this.bra = this.cursor;
if ((this.cursor === this.limit) || (this.current[this.cursor] !== "ё")) {
break lab2;
}
this.cursor += 1;
this.ket = this.cursor;
this.cursor = v_3;
break;
}
this.cursor = v_3;
if (this.cursor >= this.limit) {
break lab1;
}
this.cursor += 1;
}
this.slice_from("е");
continue;
}
this.cursor = v_2;
break;
}
}
this.cursor = v_1;
this.r_mark_regions();
this.limit_backward = this.cursor;
this.cursor = this.limit;
if (this.cursor < this.I_pV) {
return false;
}
v_5 = this.limit_backward;
this.limit_backward = this.I_pV;
v_6 = this.limit - (this.cursor);
lab0: {
while (true) {
v_7 = this.limit - (this.cursor);
lab1: {
if (!(this.r_perfective_gerund())) {
break lab1;
}
break;
}
this.cursor = this.limit - (v_7);
v_8 = this.limit - (this.cursor);
lab1: {
if (!(this.r_reflexive())) {
this.cursor = this.limit - (v_8);
break lab1;
}
}
while (true) {
v_9 = this.limit - (this.cursor);
lab1: {
if (!(this.r_adjectival())) {
break lab1;
}
break;
}
this.cursor = this.limit - (v_9);
lab1: {
if (!(this.r_verb())) {
break lab1;
}
break;
}
this.cursor = this.limit - (v_9);
if (!(this.r_noun())) {
break lab0;
}
break;
}
break;
}
}
this.cursor = this.limit - (v_6);
v_10 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "и")) {
this.cursor = this.limit - (v_10);
break lab0;
}
this.cursor -= 1;
this.bra = this.cursor;
this.slice_del();
}
v_11 = this.limit - (this.cursor);
this.r_derivational();
this.cursor = this.limit - (v_11);
v_12 = this.limit - (this.cursor);
this.r_tidy_up();
this.cursor = this.limit - (v_12);
this.limit_backward = v_5;
this.cursor = this.limit_backward;
return true;
}
static a_0 = [["в",-1,1],["ив",0,2],["ыв",0,2],["вши",-1,1],["ивши",3,2],["ывши",3,2],["вшись",-1,1],["ившись",6,2],["ывшись",6,2]];
static a_1 = [["ее",-1,1],["ие",-1,1],["ое",-1,1],["ые",-1,1],["ими",-1,1],["ыми",-1,1],["ей",-1,1],["ий",-1,1],["ой",-1,1],["ый",-1,1],["ем",-1,1],["им",-1,1],["ом",-1,1],["ым",-1,1],["его",-1,1],["ого",-1,1],["ему",-1,1],["ому",-1,1],["их",-1,1],["ых",-1,1],["ею",-1,1],["ою",-1,1],["ую",-1,1],["юю",-1,1],["ая",-1,1],["яя",-1,1]];
static a_2 = [["ем",-1,1],["нн",-1,1],["вш",-1,1],["ивш",2,2],["ывш",2,2],["щ",-1,1],["ющ",5,1],["ующ",6,2]];
static a_3 = [["сь",-1,1],["ся",-1,1]];
static a_4 = [["ла",-1,1],["ила",0,2],["ыла",0,2],["на",-1,1],["ена",3,2],["ете",-1,1],["ите",-1,2],["йте",-1,1],["ейте",7,2],["уйте",7,2],["ли",-1,1],["или",10,2],["ыли",10,2],["й",-1,1],["ей",13,2],["уй",13,2],["л",-1,1],["ил",16,2],["ыл",16,2],["ем",-1,1],["им",-1,2],["ым",-1,2],["н",-1,1],["ен",22,2],["ло",-1,1],["ило",24,2],["ыло",24,2],["но",-1,1],["ено",27,2],["нно",27,1],["ет",-1,1],["ует",30,2],["ит",-1,2],["ыт",-1,2],["ют",-1,1],["уют",34,2],["ят",-1,2],["ны",-1,1],["ены",37,2],["ть",-1,1],["ить",39,2],["ыть",39,2],["ешь",-1,1],["ишь",-1,2],["ю",-1,2],["ую",44,2]];
static a_5 = [["а",-1,1],["ев",-1,1],["ов",-1,1],["е",-1,1],["ие",3,1],["ье",3,1],["и",-1,1],["еи",6,1],["ии",6,1],["ами",6,1],["ями",6,1],["иями",10,1],["й",-1,1],["ей",12,1],["ией",13,1],["ий",12,1],["ой",12,1],["ам",-1,1],["ем",-1,1],["ием",18,1],["ом",-1,1],["ям",-1,1],["иям",21,1],["о",-1,1],["у",-1,1],["ах",-1,1],["ях",-1,1],["иях",26,1],["ы",-1,1],["ь",-1,1],["ю",-1,1],["ию",30,1],["ью",30,1],["я",-1,1],["ия",33,1],["ья",33,1]];
static a_6 = [["ост",-1,1],["ость",-1,1]];
static a_7 = [["ейше",-1,1],["н",-1,2],["ейш",-1,1],["ь",-1,3]];
}
export default RussianStemmer;
