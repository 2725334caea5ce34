// Generated from polish.sbl by Snowball 3.1.1 - https://snowballstem.org/; BSD, see LICENSE
import { Snowball } from "./snowball.js";
class PolishStemmer extends Snowball {
I_p1 = 0;
static g_v = new Set("aeiouyóąę");
r_mark_regions() {
this.I_p1 = this.limit;
if (!(this.go_out_grouping(PolishStemmer.g_v))) {
return false;
}
this.cursor += 1;
if (!(this.go_in_grouping(PolishStemmer.g_v))) {
return false;
}
this.cursor += 1;
this.I_p1 = this.cursor;
return true;
}
r_R1() {
return this.I_p1 <= this.cursor;
}
r_remove_endings() {
let among_var, v_1, v_3, v_4, v_5, v_6;
v_1 = this.limit - (this.cursor);
lab0: {
if (this.cursor < this.I_p1) {
break lab0;
}
v_3 = this.limit_backward;
this.limit_backward = this.I_p1;
this.ket = this.cursor;
if (this.find_among_b(PolishStemmer.a_0) === 0) {
this.limit_backward = v_3;
break lab0;
}
this.bra = this.cursor;
this.limit_backward = v_3;
this.slice_del();
}
this.cursor = this.limit - (v_1);
this.ket = this.cursor;
among_var = this.find_among_b(PolishStemmer.a_2);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
if (among_var === 1) {
this.slice_del();
} else {
if (among_var === 2) {
this.slice_from("s");
} else {
if (among_var === 3) {
while (true) {
v_4 = this.limit - (this.cursor);
lab0: {
if (!(this.r_R1())) {
break lab0;
}
this.slice_del();
break;
}
this.cursor = this.limit - (v_4);
this.slice_from("s");
break;
}
} else {
if (among_var === 4) {
this.slice_from("ł");
} else {
this.slice_del();
v_5 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
among_var = this.find_among_b(PolishStemmer.a_1);
if (among_var === 0) {
this.cursor = this.limit - (v_5);
break lab0;
}
this.bra = this.cursor;
this.slice_from(PolishStemmer.as_1[among_var - (1)]);
}
}
}
}
}
v_6 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "'")) {
this.cursor = this.limit - (v_6);
break lab0;
}
this.cursor -= 1;
this.bra = this.cursor;
this.slice_del();
}
return true;
}
r_normalize_consonant() {
let among_var;
this.ket = this.cursor;
among_var = this.find_among_b(PolishStemmer.a_3);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
if (this.cursor <= this.limit_backward) {
return false;
}
this.slice_from(PolishStemmer.as_3[among_var - (1)]);
return true;
}
_stem() {
let v_1, v_2;
v_1 = this.cursor;
this.r_mark_regions();
this.cursor = v_1;
while (true) {
v_2 = this.cursor;
lab0: {
if (this.cursor + (2) > this.limit) {
break lab0;
}
this.cursor += 2;
this.limit_backward = this.cursor;
this.cursor = this.limit;
if (!(this.r_remove_endings())) {
break lab0;
}
this.cursor = this.limit_backward;
break;
}
this.cursor = v_2;
this.limit_backward = this.cursor;
this.cursor = this.limit;
if (!(this.r_normalize_consonant())) {
return false;
}
this.cursor = this.limit_backward;
break;
}
return true;
}
static a_0 = [["byście",-1,1],["bym",-1,1],["by",-1,1],["byśmy",-1,1],["byś",-1,1]];
static a_1 = [["ąc",-1,1],["ając",0,1],["sząc",0,2],["sz",-1,1],["iejsz",3,1]];
static as_1 = ["","s"];
static a_2 = [["a",-1,1,(s) => s.r_R1()],["ąca",0,1],["ająca",1,1],["sząca",1,2],["ia",0,1,(s) => s.r_R1()],["sza",0,1],["iejsza",5,1],["ała",0,1],["iała",7,1],["iła",0,1],["ąc",-1,1],["ając",10,1],["e",-1,1,(s) => s.r_R1()],["ące",12,1],["ające",13,1],["szące",13,2],["ie",12,1,(s) => s.r_R1()],["cie",16,1],["acie",17,1],["ecie",17,1],["icie",17,1],["ajcie",17,1],["liście",17,4],["aliście",22,1],["ieliście",22,1],["iliście",22,1],["łyście",17,4],["ałyście",26,1],["iałyście",27,1],["iłyście",26,1],["sze",12,1],["iejsze",30,1],["ach",-1,1,(s) => s.r_R1()],["iach",32,1,(s) => s.r_R1()],["ich",-1,5],["ych",-1,5],["i",-1,1,(s) => s.r_R1()],["ali",36,1],["ieli",36,1],["ili",36,1],["ami",36,1,(s) => s.r_R1()],["iami",40,1,(s) => s.r_R1()],["imi",36,5],["ymi",36,5],["owi",36,1,(s) => s.r_R1()],["iowi",44,1,(s) => s.r_R1()],["aj",-1,1],["ej",-1,5],["iej",47,5],["am",-1,1],["ałam",49,1],["iałam",50,1],["iłam",49,1],["em",-1,1,(s) => s.r_R1()],["iem",53,1,(s) => s.r_R1()],["ałem",53,1],["iałem",55,1],["iłem",53,1],["im",-1,5],["om",-1,1,(s) => s.r_R1()],["iom",59,1,(s) => s.r_R1()],["ym",-1,5],["o",-1,1,(s) => s.r_R1()],["ego",62,5],["iego",63,5],["ało",62,1],["iało",65,1],["iło",62,1],["u",-1,1,(s) => s.r_R1()],["iu",68,1,(s) => s.r_R1()],["emu",68,5],["iemu",70,5],["ów",-1,1,(s) => s.r_R1()],["y",-1,5],["amy",73,1],["emy",73,1],["imy",73,1],["liśmy",73,4],["aliśmy",77,1],["ieliśmy",77,1],["iliśmy",77,1],["łyśmy",73,4],["ałyśmy",81,1],["iałyśmy",82,1],["iłyśmy",81,1],["ały",73,1],["iały",85,1],["iły",73,1],["asz",-1,1],["esz",-1,1],["isz",-1,1],["ą",-1,1,(s) => s.r_R1()],["ącą",91,1],["ającą",92,1],["szącą",92,2],["ią",91,1,(s) => s.r_R1()],["ają",91,1],["szą",91,3],["iejszą",97,1],["ać",-1,1],["ieć",-1,1],["ić",-1,1],["ąć",-1,1],["aść",-1,1],["eść",-1,1],["ę",-1,1],["szę",105,2],["ał",-1,1],["iał",107,1],["ił",-1,1],["łaś",-1,4],["ałaś",110,1],["iałaś",111,1],["iłaś",110,1],["łeś",-1,4],["ałeś",114,1],["iałeś",115,1],["iłeś",114,1]];
static a_3 = [["ć",-1,1],["ń",-1,2],["ś",-1,3],["ź",-1,4]];
static as_3 = ["c","n","s","z"];
}
export default PolishStemmer;
