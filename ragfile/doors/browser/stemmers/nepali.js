// Generated from nepali.sbl by Snowball 3.1.1 - https://snowballstem.org/; BSD, see LICENSE
import { Snowball } from "./snowball.js";
class NepaliStemmer extends Snowball {
r_remove_category_1() {
let among_var;
this.ket = this.cursor;
among_var = this.find_among_b(NepaliStemmer.a_0);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
if (among_var === 1) {
this.slice_del();
} else {
while (true) {
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "ए")) {
break lab0;
}
this.cursor -= 1;
break;
}
lab0: {
if ((this.cursor <= this.limit_backward) || (this.current[this.cursor - (1)] !== "े")) {
break lab0;
}
this.cursor -= 1;
break;
}
this.slice_del();
break;
}
}
return true;
}
r_remove_category_2() {
let among_var;
this.ket = this.cursor;
among_var = this.find_among_b(NepaliStemmer.a_1);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
if (among_var === 1) {
while (true) {
lab0: {
if (!(this.eq_s_b("यौ"))) {
break lab0;
}
break;
}
lab0: {
if (!(this.eq_s_b("छौ"))) {
break lab0;
}
break;
}
lab0: {
if (!(this.eq_s_b("नौ"))) {
break lab0;
}
break;
}
if (!(this.eq_s_b("थे"))) {
return false;
}
break;
}
this.slice_del();
} else {
if (!(this.eq_s_b("त्र"))) {
return false;
}
this.slice_del();
}
return true;
}
r_remove_category_3() {
this.ket = this.cursor;
if (this.find_among_b(NepaliStemmer.a_2) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
return true;
}
_stem() {
let v_1, v_2, v_3;
this.limit_backward = this.cursor;
this.cursor = this.limit;
v_1 = this.limit - (this.cursor);
this.r_remove_category_1();
this.cursor = this.limit - (v_1);
while (true) {
v_2 = this.limit - (this.cursor);
lab0: {
v_3 = this.limit - (this.cursor);
this.r_remove_category_2();
this.cursor = this.limit - (v_3);
if (!(this.r_remove_category_3())) {
break lab0;
}
continue;
}
this.cursor = this.limit - (v_2);
break;
}
this.cursor = this.limit_backward;
return true;
}
static a_0 = [["लाइ",-1,1],["लाई",-1,1],["सँग",-1,1],["संग",-1,1],["मार्फत",-1,1],["रत",-1,1],["का",-1,2],["मा",-1,1],["द्वारा",-1,1],["कि",-1,2],["पछि",-1,1],["की",-1,2],["ले",-1,1],["कै",-1,2],["सँगै",-1,1],["मै",-1,1],["को",-1,2]];
static a_1 = [["ँ",-1,1],["ं",-1,1],["ै",-1,2]];
static a_2 = [["थिए",-1,1],["छ",-1,1],["इछ",1,1],["एछ",1,1],["िछ",1,1],["ेछ",1,1],["नेछ",5,1],["हुनेछ",6,1],["इन्छ",1,1],["िन्छ",1,1],["हुन्छ",1,1],["एका",-1,1],["इएका",11,1],["िएका",11,1],["ेका",-1,1],["नेका",14,1],["दा",-1,1],["इदा",16,1],["िदा",16,1],["देखि",-1,1],["माथि",-1,1],["एकी",-1,1],["इएकी",21,1],["िएकी",21,1],["ेकी",-1,1],["देखी",-1,1],["थी",-1,1],["दी",-1,1],["छु",-1,1],["एछु",28,1],["ेछु",28,1],["नेछु",30,1],["नु",-1,1],["हरु",-1,1],["हरू",-1,1],["छे",-1,1],["थे",-1,1],["ने",-1,1],["एकै",-1,1],["ेकै",-1,1],["नेकै",39,1],["दै",-1,1],["इदै",41,1],["िदै",41,1],["एको",-1,1],["इएको",44,1],["िएको",44,1],["ेको",-1,1],["नेको",47,1],["दो",-1,1],["इदो",49,1],["िदो",49,1],["यो",-1,1],["इयो",52,1],["भयो",52,1],["ियो",52,1],["थियो",55,1],["दियो",55,1],["थ्यो",52,1],["छौ",-1,1],["इछौ",59,1],["एछौ",59,1],["िछौ",59,1],["ेछौ",59,1],["नेछौ",63,1],["यौ",-1,1],["थियौ",65,1],["छ्यौ",65,1],["थ्यौ",65,1],["छन्",-1,1],["इछन्",69,1],["एछन्",69,1],["िछन्",69,1],["ेछन्",69,1],["नेछन्",73,1],["लान्",-1,1],["छिन्",-1,1],["थिन्",-1,1],["पर्",-1,1],["इस्",-1,1],["थिइस्",79,1],["छस्",-1,1],["इछस्",81,1],["एछस्",81,1],["िछस्",81,1],["ेछस्",81,1],["नेछस्",85,1],["िस्",-1,1],["थिस्",87,1],["छेस्",-1,1],["होस्",-1,1]];
}
export default NepaliStemmer;
