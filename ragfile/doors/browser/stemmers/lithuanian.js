// Generated from lithuanian.sbl by Snowball 3.1.1 - https://snowballstem.org/; BSD, see LICENSE
import { Snowball } from "./snowball.js";
class LithuanianStemmer extends Snowball {
I_p1 = 0;
static g_v = new Set("aeiouyąėęįūų");
r_step1() {
let v_2;
if (this.cursor < this.I_p1) {
return false;
}
v_2 = this.limit_backward;
this.limit_backward = this.I_p1;
this.ket = this.cursor;
if (this.find_among_b(LithuanianStemmer.a_0) === 0) {
this.limit_backward = v_2;
return false;
}
this.bra = this.cursor;
this.limit_backward = v_2;
this.slice_del();
return true;
}
r_step2() {
let v_1, v_3;
while (true) {
v_1 = this.limit - (this.cursor);
lab0: {
if (this.cursor < this.I_p1) {
break lab0;
}
v_3 = this.limit_backward;
this.limit_backward = this.I_p1;
this.ket = this.cursor;
if (this.find_among_b(LithuanianStemmer.a_1) === 0) {
this.limit_backward = v_3;
break lab0;
}
this.bra = this.cursor;
this.limit_backward = v_3;
this.slice_del();
continue;
}
this.cursor = this.limit - (v_1);
break;
}
return true;
}
r_fix_conflicts() {
let among_var;
this.ket = this.cursor;
among_var = this.find_among_b(LithuanianStemmer.a_2);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
this.slice_from(LithuanianStemmer.as_2[among_var - (1)]);
return true;
}
r_fix_chdz() {
let among_var;
this.ket = this.cursor;
among_var = this.find_among_b(LithuanianStemmer.a_3);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
this.slice_from(LithuanianStemmer.as_3[among_var - (1)]);
return true;
}
r_fix_gd() {
this.ket = this.cursor;
if (!(this.eq_s_b("gd"))) {
return false;
}
this.bra = this.cursor;
this.slice_from("g");
return true;
}
_stem() {
let v_1, v_2, v_3, v_4, v_5, v_6, v_7, v_8;
this.I_p1 = this.limit;
v_1 = this.cursor;
lab0: {
v_2 = this.cursor;
lab1: {
if ((this.cursor === this.limit) || (this.current[this.cursor] !== "a")) {
this.cursor = v_2;
break lab1;
}
this.cursor += 1;
if (this.current.length <= 6) {
this.cursor = v_2;
break lab1;
}
}
if (!(this.go_out_grouping(LithuanianStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
if (!(this.go_in_grouping(LithuanianStemmer.g_v))) {
break lab0;
}
this.cursor += 1;
this.I_p1 = this.cursor;
}
this.cursor = v_1;
this.limit_backward = this.cursor;
this.cursor = this.limit;
v_3 = this.limit - (this.cursor);
this.r_fix_conflicts();
this.cursor = this.limit - (v_3);
v_4 = this.limit - (this.cursor);
this.r_step1();
this.cursor = this.limit - (v_4);
v_5 = this.limit - (this.cursor);
this.r_fix_chdz();
this.cursor = this.limit - (v_5);
v_6 = this.limit - (this.cursor);
this.r_step2();
this.cursor = this.limit - (v_6);
v_7 = this.limit - (this.cursor);
this.r_fix_chdz();
this.cursor = this.limit - (v_7);
v_8 = this.limit - (this.cursor);
this.r_fix_gd();
this.cursor = this.limit - (v_8);
this.ket = this.cursor;
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "'")) {
return false;
}
this.cursor -= 1;
this.bra = this.cursor;
this.slice_del();
this.cursor = this.limit_backward;
return true;
}
static a_0 = [["a",-1,-1],["ia",0,-1],["osna",0,-1],["iosna",2,-1],["uosna",2,-1],["iuosna",4,-1],["ysna",0,-1],["ėsna",0,-1],["e",-1,-1],["ie",8,-1],["enie",9,-1],["oje",8,-1],["ioje",11,-1],["uje",8,-1],["iuje",13,-1],["yje",8,-1],["enyje",15,-1],["ėje",8,-1],["ame",8,-1],["iame",18,-1],["sime",8,-1],["ome",8,-1],["ėme",8,-1],["tumėme",22,-1],["ose",8,-1],["iose",24,-1],["uose",24,-1],["iuose",26,-1],["yse",8,-1],["enyse",28,-1],["ėse",8,-1],["ate",8,-1],["iate",31,-1],["ite",8,-1],["kite",33,-1],["site",33,-1],["ote",8,-1],["tute",8,-1],["ėte",8,-1],["tumėte",38,-1],["i",-1,-1],["ai",40,-1],["iai",41,-1],["ei",40,-1],["tumei",43,-1],["ki",40,-1],["imi",40,-1],["umi",40,-1],["iumi",47,-1],["si",40,-1],["asi",49,-1],["iasi",50,-1],["esi",49,-1],["iesi",52,-1],["siesi",53,-1],["isi",49,-1],["aisi",55,-1],["eisi",55,-1],["tumeisi",57,-1],["uisi",55,-1],["osi",49,-1],["ėjosi",60,-1],["uosi",60,-1],["iuosi",62,-1],["siuosi",63,-1],["usi",49,-1],["ausi",65,-1],["čiausi",66,-1],["ąsi",49,-1],["ėsi",49,-1],["ųsi",49,-1],["tųsi",70,-1],["ti",40,-1],["enti",72,-1],["inti",72,-1],["oti",72,-1],["ioti",75,-1],["uoti",75,-1],["iuoti",77,-1],["auti",72,-1],["iauti",79,-1],["yti",72,-1],["ėti",72,-1],["telėti",82,-1],["inėti",82,-1],["terėti",82,-1],["ui",40,-1],["iui",86,-1],["eniui",87,-1],["oj",-1,-1],["ėj",-1,-1],["k",-1,-1],["am",-1,-1],["iam",92,-1],["iem",-1,-1],["im",-1,-1],["sim",95,-1],["om",-1,-1],["tum",-1,-1],["ėm",-1,-1],["tumėm",99,-1],["an",-1,-1],["on",-1,-1],["ion",102,-1],["un",-1,-1],["iun",104,-1],["ėn",-1,-1],["o",-1,-1],["io",107,-1],["enio",108,-1],["ėjo",107,-1],["uo",107,-1],["s",-1,-1],["as",112,-1],["ias",113,-1],["es",112,-1],["ies",115,-1],["is",112,-1],["ais",117,-1],["iais",118,-1],["tumeis",117,-1],["imis",117,-1],["enimis",121,-1],["omis",117,-1],["iomis",123,-1],["umis",117,-1],["ėmis",117,-1],["enis",117,-1],["asis",117,-1],["ysis",117,-1],["ams",112,-1],["iams",130,-1],["iems",112,-1],["ims",112,-1],["enims",133,-1],["oms",112,-1],["ioms",135,-1],["ums",112,-1],["ėms",112,-1],["ens",112,-1],["os",112,-1],["ios",140,-1],["uos",140,-1],["iuos",142,-1],["us",112,-1],["aus",144,-1],["iaus",145,-1],["ius",144,-1],["ys",112,-1],["enys",148,-1],["ąs",112,-1],["iąs",150,-1],["ės",112,-1],["amės",152,-1],["iamės",153,-1],["imės",152,-1],["kimės",155,-1],["simės",155,-1],["omės",152,-1],["ėmės",152,-1],["tumėmės",159,-1],["atės",152,-1],["iatės",161,-1],["sitės",152,-1],["otės",152,-1],["ėtės",152,-1],["tumėtės",165,-1],["įs",112,-1],["ūs",112,-1],["tųs",112,-1],["at",-1,-1],["iat",170,-1],["it",-1,-1],["sit",172,-1],["ot",-1,-1],["ėt",-1,-1],["tumėt",175,-1],["u",-1,-1],["au",177,-1],["iau",178,-1],["čiau",179,-1],["iu",177,-1],["eniu",181,-1],["siu",181,-1],["y",-1,-1],["ą",-1,-1],["ią",185,-1],["ė",-1,-1],["ę",-1,-1],["į",-1,-1],["enį",189,-1],["ų",-1,-1],["ių",191,-1]];
static a_1 = [["ing",-1,-1],["aj",-1,-1],["iaj",1,-1],["iej",-1,-1],["oj",-1,-1],["ioj",4,-1],["uoj",4,-1],["iuoj",6,-1],["auj",-1,-1],["ąj",-1,-1],["iąj",9,-1],["ėj",-1,-1],["ųj",-1,-1],["iųj",12,-1],["ok",-1,-1],["iok",14,-1],["iuk",-1,-1],["uliuk",16,-1],["učiuk",16,-1],["išk",-1,-1],["iul",-1,-1],["yl",-1,-1],["ėl",-1,-1],["am",-1,-1],["dam",23,-1],["jam",23,-1],["zgan",-1,-1],["ain",-1,-1],["esn",-1,-1],["op",-1,-1],["iop",29,-1],["ias",-1,-1],["ies",-1,-1],["ais",-1,-1],["iais",33,-1],["os",-1,-1],["ios",35,-1],["uos",35,-1],["iuos",37,-1],["aus",-1,-1],["iaus",39,-1],["ąs",-1,-1],["iąs",41,-1],["ęs",-1,-1],["utėait",-1,-1],["ant",-1,-1],["iant",45,-1],["siant",46,-1],["int",-1,-1],["ot",-1,-1],["uot",49,-1],["iuot",50,-1],["yt",-1,-1],["ėt",-1,-1],["ykšt",-1,-1],["iau",-1,-1],["dav",-1,-1],["sv",-1,-1],["šv",-1,-1],["ykšč",-1,-1],["ę",-1,-1],["ėję",60,-1]];
static a_2 = [["ojime",-1,7],["ėjime",-1,3],["avime",-1,6],["okate",-1,8],["aite",-1,1],["uote",-1,2],["asius",-1,5],["okatės",-1,8],["aitės",-1,1],["uotės",-1,2],["esiu",-1,4]];
static as_2 = ["aitė","uotė","ėjimas","esys","asys","avimas","ojimas","okatė"];
static a_3 = [["č",-1,1],["dž",-1,2]];
static as_3 = ["t","d"];
}
export default LithuanianStemmer;
