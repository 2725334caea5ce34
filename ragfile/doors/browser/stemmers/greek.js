// Generated from greek.sbl by Snowball 3.1.1 - https://snowballstem.org/; BSD, see LICENSE
import { Snowball } from "./snowball.js";
class GreekStemmer extends Snowball {
B_test1 = false;
static g_v = new Set("αεηιουω");
static g_v2 = new Set("αεηιοω");
r_tolower() {
let among_var, v_1;
while (true) {
v_1 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
among_var = this.find_among_b(GreekStemmer.a_0);
this.bra = this.cursor;
if (among_var === 1) {
this.slice_from("α");
} else {
if (among_var === 2) {
this.slice_from("β");
} else {
if (among_var === 3) {
this.slice_from("γ");
} else {
if (among_var === 4) {
this.slice_from("δ");
} else {
if (among_var === 5) {
this.slice_from("ε");
} else {
if (among_var === 6) {
this.slice_from("ζ");
} else {
if (among_var === 7) {
this.slice_from("η");
} else {
if (among_var === 8) {
this.slice_from("θ");
} else {
if (among_var === 9) {
this.slice_from("ι");
} else {
if (among_var === 10) {
this.slice_from("κ");
} else {
if (among_var === 11) {
this.slice_from("λ");
} else {
if (among_var === 12) {
this.slice_from("μ");
} else {
if (among_var === 13) {
this.slice_from("ν");
} else {
if (among_var === 14) {
this.slice_from("ξ");
} else {
if (among_var === 15) {
this.slice_from("ο");
} else {
if (among_var === 16) {
this.slice_from("π");
} else {
if (among_var === 17) {
this.slice_from("ρ");
} else {
if (among_var === 18) {
this.slice_from("σ");
} else {
if (among_var === 19) {
this.slice_from("τ");
} else {
if (among_var === 20) {
this.slice_from("υ");
} else {
if (among_var === 21) {
this.slice_from("φ");
} else {
if (among_var === 22) {
this.slice_from("χ");
} else {
if (among_var === 23) {
this.slice_from("ψ");
} else {
if (among_var === 24) {
this.slice_from("ω");
} else {
if (this.cursor <= this.limit_backward) {
break lab0;
}
this.cursor -= 1;
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
this.cursor = this.limit - (v_1);
break;
}
return true;
}
r_step_1() {
let among_var;
this.ket = this.cursor;
among_var = this.find_among_b(GreekStemmer.a_1);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
this.slice_from(GreekStemmer.as_1[among_var - (1)]);
this.B_test1 = false;
return true;
}
r_step_s1() {
let among_var;
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_3) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
this.ket = this.cursor;
this.bra = this.cursor;
among_var = this.find_among_b(GreekStemmer.a_2);
if (among_var === 0) {
return false;
}
if (this.cursor > this.limit_backward) {
return false;
}
this.slice_from(GreekStemmer.as_2[among_var - (1)]);
return true;
}
r_step_s2() {
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_5) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
this.ket = this.cursor;
this.bra = this.cursor;
if (this.find_among_b(GreekStemmer.a_4) === 0) {
return false;
}
if (this.cursor > this.limit_backward) {
return false;
}
this.slice_from("ων");
return true;
}
r_step_s3() {
let among_var, v_1;
while (true) {
v_1 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if (!(this.eq_s_b("ισα"))) {
break lab0;
}
this.bra = this.cursor;
if (this.cursor > this.limit_backward) {
break lab0;
}
this.slice_from("ισ");
break;
}
this.cursor = this.limit - (v_1);
this.ket = this.cursor;
break;
}
if (this.find_among_b(GreekStemmer.a_7) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
this.ket = this.cursor;
this.bra = this.cursor;
among_var = this.find_among_b(GreekStemmer.a_6);
if (among_var === 0) {
return false;
}
if (this.cursor > this.limit_backward) {
return false;
}
this.slice_from(GreekStemmer.as_6[among_var - (1)]);
return true;
}
r_step_s4() {
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_9) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
this.ket = this.cursor;
this.bra = this.cursor;
if (this.find_among_b(GreekStemmer.a_8) === 0) {
return false;
}
if (this.cursor > this.limit_backward) {
return false;
}
this.slice_from("ι");
return true;
}
r_step_s5() {
let among_var;
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_11) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
this.ket = this.cursor;
this.bra = this.cursor;
among_var = this.find_among_b(GreekStemmer.a_10);
if (among_var === 0) {
return false;
}
if (this.cursor > this.limit_backward) {
return false;
}
this.slice_from(GreekStemmer.as_10[among_var - (1)]);
return true;
}
r_step_s6() {
let among_var, v_1;
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_14) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
while (true) {
v_1 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
this.bra = this.cursor;
among_var = this.find_among_b(GreekStemmer.a_12);
if (among_var === 0) {
break lab0;
}
if (this.cursor > this.limit_backward) {
break lab0;
}
this.slice_from(GreekStemmer.as_12[among_var - (1)]);
break;
}
this.cursor = this.limit - (v_1);
this.ket = this.cursor;
among_var = this.find_among_b(GreekStemmer.a_13);
if (among_var === 0) {
return false;
}
this.bra = this.cursor;
this.slice_from(GreekStemmer.as_13[among_var - (1)]);
break;
}
return true;
}
r_step_s7() {
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_16) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
this.ket = this.cursor;
this.bra = this.cursor;
if (this.find_among_b(GreekStemmer.a_15) === 0) {
return false;
}
if (this.cursor > this.limit_backward) {
return false;
}
this.slice_from("αρακ");
return true;
}
r_step_s8() {
let among_var, v_1;
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_18) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
while (true) {
v_1 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
this.bra = this.cursor;
among_var = this.find_among_b(GreekStemmer.a_17);
if (among_var === 0) {
break lab0;
}
if (this.cursor > this.limit_backward) {
break lab0;
}
this.slice_from(GreekStemmer.as_17[among_var - (1)]);
break;
}
this.cursor = this.limit - (v_1);
this.ket = this.cursor;
this.bra = this.cursor;
if (!(this.eq_s_b("κορ"))) {
return false;
}
this.slice_from("ιτσ");
break;
}
return true;
}
r_step_s9() {
let v_1;
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_21) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
while (true) {
v_1 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
this.bra = this.cursor;
if (this.find_among_b(GreekStemmer.a_19) === 0) {
break lab0;
}
if (this.cursor > this.limit_backward) {
break lab0;
}
this.slice_from("ιδ");
break;
}
this.cursor = this.limit - (v_1);
this.ket = this.cursor;
this.bra = this.cursor;
if (this.find_among_b(GreekStemmer.a_20) === 0) {
return false;
}
this.slice_from("ιδ");
break;
}
return true;
}
r_step_s10() {
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_23) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
this.ket = this.cursor;
this.bra = this.cursor;
if (this.find_among_b(GreekStemmer.a_22) === 0) {
return false;
}
if (this.cursor > this.limit_backward) {
return false;
}
this.slice_from("ισκ");
return true;
}
r_step_2a() {
let c, v_1;
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_24) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
v_1 = this.limit - (this.cursor);
lab0: {
if (this.find_among_b(GreekStemmer.a_25) === 0) {
break lab0;
}
return false;
}
this.cursor = this.limit - (v_1);
c = this.cursor;
this.insert(this.cursor, this.cursor, "αδ");
this.cursor = c;
return true;
}
r_step_2b() {
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_26) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.ket = this.cursor;
this.bra = this.cursor;
if (this.find_among_b(GreekStemmer.a_27) === 0) {
return false;
}
this.slice_from("εδ");
return true;
}
r_step_2c() {
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_28) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.ket = this.cursor;
this.bra = this.cursor;
if (this.find_among_b(GreekStemmer.a_29) === 0) {
return false;
}
this.slice_from("ουδ");
return true;
}
r_step_2d() {
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_30) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
this.ket = this.cursor;
this.bra = this.cursor;
if (this.find_among_b(GreekStemmer.a_31) === 0) {
return false;
}
if (this.cursor > this.limit_backward) {
return false;
}
this.slice_from("ε");
return true;
}
r_step_3() {
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_32) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
this.ket = this.cursor;
this.bra = this.cursor;
if (!(this.in_grouping_b(GreekStemmer.g_v))) {
return false;
}
this.slice_from("ι");
return true;
}
r_step_4() {
let v_1;
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_33) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
while (true) {
v_1 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
this.bra = this.cursor;
if (!(this.in_grouping_b(GreekStemmer.g_v))) {
break lab0;
}
this.slice_from("ικ");
break;
}
this.cursor = this.limit - (v_1);
this.ket = this.cursor;
break;
}
this.bra = this.cursor;
if (this.find_among_b(GreekStemmer.a_34) === 0) {
return false;
}
if (this.cursor > this.limit_backward) {
return false;
}
this.slice_from("ικ");
return true;
}
r_step_5a() {
let v_1, v_2;
v_1 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if (!(this.eq_s_b("αγαμε"))) {
break lab0;
}
this.bra = this.cursor;
if (this.cursor > this.limit_backward) {
break lab0;
}
this.slice_from("αγαμ");
}
this.cursor = this.limit - (v_1);
v_2 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_35) === 0) {
break lab0;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
}
this.cursor = this.limit - (v_2);
this.ket = this.cursor;
if (!(this.eq_s_b("αμε"))) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
this.ket = this.cursor;
this.bra = this.cursor;
if (this.find_among_b(GreekStemmer.a_36) === 0) {
return false;
}
if (this.cursor > this.limit_backward) {
return false;
}
this.slice_from("αμ");
return true;
}
r_step_5b() {
let v_1, v_2;
v_1 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_38) === 0) {
break lab0;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
this.ket = this.cursor;
this.bra = this.cursor;
if (this.find_among_b(GreekStemmer.a_37) === 0) {
break lab0;
}
if (this.cursor > this.limit_backward) {
break lab0;
}
this.slice_from("αγαν");
}
this.cursor = this.limit - (v_1);
this.ket = this.cursor;
if (!(this.eq_s_b("ανε"))) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
while (true) {
v_2 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
this.bra = this.cursor;
if (!(this.in_grouping_b(GreekStemmer.g_v2))) {
break lab0;
}
this.slice_from("αν");
break;
}
this.cursor = this.limit - (v_2);
this.ket = this.cursor;
break;
}
this.bra = this.cursor;
if (this.find_among_b(GreekStemmer.a_39) === 0) {
return false;
}
if (this.cursor > this.limit_backward) {
return false;
}
this.slice_from("αν");
return true;
}
r_step_5c() {
let v_1, v_2;
v_1 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if (!(this.eq_s_b("ησετε"))) {
break lab0;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
}
this.cursor = this.limit - (v_1);
this.ket = this.cursor;
if (!(this.eq_s_b("ετε"))) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
while (true) {
v_2 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
this.bra = this.cursor;
if (!(this.in_grouping_b(GreekStemmer.g_v2))) {
break lab0;
}
this.slice_from("ετ");
break;
}
this.cursor = this.limit - (v_2);
lab0: {
this.ket = this.cursor;
this.bra = this.cursor;
if (this.find_among_b(GreekStemmer.a_40) === 0) {
break lab0;
}
this.slice_from("ετ");
break;
}
this.cursor = this.limit - (v_2);
this.ket = this.cursor;
break;
}
this.bra = this.cursor;
if (this.find_among_b(GreekStemmer.a_41) === 0) {
return false;
}
if (this.cursor > this.limit_backward) {
return false;
}
this.slice_from("ετ");
return true;
}
r_step_5d() {
let v_1;
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_42) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
while (true) {
v_1 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
this.bra = this.cursor;
if (!(this.eq_s_b("αρχ"))) {
break lab0;
}
if (this.cursor > this.limit_backward) {
break lab0;
}
this.slice_from("οντ");
break;
}
this.cursor = this.limit - (v_1);
this.ket = this.cursor;
this.bra = this.cursor;
if (!(this.eq_s_b("κρε"))) {
return false;
}
this.slice_from("ωντ");
break;
}
return true;
}
r_step_5e() {
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_43) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
this.ket = this.cursor;
this.bra = this.cursor;
if (!(this.eq_s_b("ον"))) {
return false;
}
if (this.cursor > this.limit_backward) {
return false;
}
this.slice_from("ομαστ");
return true;
}
r_step_5f() {
let v_1;
v_1 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if (!(this.eq_s_b("ιεστε"))) {
break lab0;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
this.ket = this.cursor;
this.bra = this.cursor;
if (this.find_among_b(GreekStemmer.a_44) === 0) {
break lab0;
}
if (this.cursor > this.limit_backward) {
break lab0;
}
this.slice_from("ιεστ");
}
this.cursor = this.limit - (v_1);
this.ket = this.cursor;
if (!(this.eq_s_b("εστε"))) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
this.ket = this.cursor;
this.bra = this.cursor;
if (this.find_among_b(GreekStemmer.a_45) === 0) {
return false;
}
if (this.cursor > this.limit_backward) {
return false;
}
this.slice_from("ιεστ");
return true;
}
r_step_5g() {
let v_1, v_2;
v_1 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_46) === 0) {
break lab0;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
}
this.cursor = this.limit - (v_1);
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_49) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
while (true) {
v_2 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
this.bra = this.cursor;
if (this.find_among_b(GreekStemmer.a_47) === 0) {
break lab0;
}
this.slice_from("ηκ");
break;
}
this.cursor = this.limit - (v_2);
this.ket = this.cursor;
this.bra = this.cursor;
if (this.find_among_b(GreekStemmer.a_48) === 0) {
return false;
}
if (this.cursor > this.limit_backward) {
return false;
}
this.slice_from("ηκ");
break;
}
return true;
}
r_step_5h() {
let v_1;
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_52) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
while (true) {
v_1 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
this.bra = this.cursor;
if (this.find_among_b(GreekStemmer.a_50) === 0) {
break lab0;
}
this.slice_from("ουσ");
break;
}
this.cursor = this.limit - (v_1);
this.ket = this.cursor;
this.bra = this.cursor;
if (this.find_among_b(GreekStemmer.a_51) === 0) {
return false;
}
if (this.cursor > this.limit_backward) {
return false;
}
this.slice_from("ουσ");
break;
}
return true;
}
r_step_5i() {
let among_var, v_1, v_2;
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_55) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
while (true) {
v_1 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
this.bra = this.cursor;
if (!(this.eq_s_b("κολλ"))) {
break lab0;
}
this.slice_from("αγ");
break;
}
this.cursor = this.limit - (v_1);
while (true) {
v_2 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
this.bra = this.cursor;
among_var = this.find_among_b(GreekStemmer.a_53);
if (among_var === 0) {
break lab0;
}
if (among_var === 1) {
this.slice_from("αγ");
}
break;
}
this.cursor = this.limit - (v_2);
this.ket = this.cursor;
this.bra = this.cursor;
if (this.find_among_b(GreekStemmer.a_54) === 0) {
return false;
}
if (this.cursor > this.limit_backward) {
return false;
}
this.slice_from("αγ");
break;
}
break;
}
return true;
}
r_step_5j() {
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_56) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
this.ket = this.cursor;
this.bra = this.cursor;
if (this.find_among_b(GreekStemmer.a_57) === 0) {
return false;
}
if (this.cursor > this.limit_backward) {
return false;
}
this.slice_from("ησ");
return true;
}
r_step_5k() {
this.ket = this.cursor;
if (!(this.eq_s_b("ηστε"))) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
this.ket = this.cursor;
this.bra = this.cursor;
if (this.find_among_b(GreekStemmer.a_58) === 0) {
return false;
}
if (this.cursor > this.limit_backward) {
return false;
}
this.slice_from("ηστ");
return true;
}
r_step_5l() {
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_59) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
this.ket = this.cursor;
this.bra = this.cursor;
if (this.find_among_b(GreekStemmer.a_60) === 0) {
return false;
}
if (this.cursor > this.limit_backward) {
return false;
}
this.slice_from("ουν");
return true;
}
r_step_5m() {
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_61) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
this.B_test1 = false;
this.ket = this.cursor;
this.bra = this.cursor;
if (this.find_among_b(GreekStemmer.a_62) === 0) {
return false;
}
if (this.cursor > this.limit_backward) {
return false;
}
this.slice_from("ουμ");
return true;
}
r_step_6() {
let v_1;
v_1 = this.limit - (this.cursor);
lab0: {
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_63) === 0) {
break lab0;
}
this.bra = this.cursor;
this.slice_from("μα");
}
this.cursor = this.limit - (v_1);
if (!(this.B_test1)) {
return false;
}
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_64) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
return true;
}
r_step_7() {
this.ket = this.cursor;
if (this.find_among_b(GreekStemmer.a_65) === 0) {
return false;
}
this.bra = this.cursor;
this.slice_del();
return true;
}
_stem() {
let v_1, v_10, v_11, v_12, v_13, v_14, v_15, v_16, v_17, v_18, v_19, v_2, v_20, v_21, v_22, v_23, v_24, v_25, v_26, v_27, v_28, v_29, v_3, v_30, v_31, v_32, v_33, v_4, v_5, v_6, v_7, v_8, v_9;
this.limit_backward = this.cursor;
this.cursor = this.limit;
v_1 = this.limit - (this.cursor);
this.r_tolower();
this.cursor = this.limit - (v_1);
if (this.current.length < 3) {
return false;
}
this.B_test1 = true;
v_2 = this.limit - (this.cursor);
this.r_step_1();
this.cursor = this.limit - (v_2);
v_3 = this.limit - (this.cursor);
this.r_step_s1();
this.cursor = this.limit - (v_3);
v_4 = this.limit - (this.cursor);
this.r_step_s2();
this.cursor = this.limit - (v_4);
v_5 = this.limit - (this.cursor);
this.r_step_s3();
this.cursor = this.limit - (v_5);
v_6 = this.limit - (this.cursor);
this.r_step_s4();
this.cursor = this.limit - (v_6);
v_7 = this.limit - (this.cursor);
this.r_step_s5();
this.cursor = this.limit - (v_7);
v_8 = this.limit - (this.cursor);
this.r_step_s6();
this.cursor = this.limit - (v_8);
v_9 = this.limit - (this.cursor);
this.r_step_s7();
this.cursor = this.limit - (v_9);
v_10 = this.limit - (this.cursor);
this.r_step_s8();
this.cursor = this.limit - (v_10);
v_11 = this.limit - (this.cursor);
this.r_step_s9();
this.cursor = this.limit - (v_11);
v_12 = this.limit - (this.cursor);
this.r_step_s10();
this.cursor = this.limit - (v_12);
v_13 = this.limit - (this.cursor);
this.r_step_2a();
this.cursor = this.limit - (v_13);
v_14 = this.limit - (this.cursor);
this.r_step_2b();
this.cursor = this.limit - (v_14);
v_15 = this.limit - (this.cursor);
this.r_step_2c();
this.cursor = this.limit - (v_15);
v_16 = this.limit - (this.cursor);
this.r_step_2d();
this.cursor = this.limit - (v_16);
v_17 = this.limit - (this.cursor);
this.r_step_3();
this.cursor = this.limit - (v_17);
v_18 = this.limit - (this.cursor);
this.r_step_4();
this.cursor = this.limit - (v_18);
v_19 = this.limit - (this.cursor);
this.r_step_5a();
this.cursor = this.limit - (v_19);
v_20 = this.limit - (this.cursor);
this.r_step_5b();
this.cursor = this.limit - (v_20);
v_21 = this.limit - (this.cursor);
this.r_step_5c();
this.cursor = this.limit - (v_21);
v_22 = this.limit - (this.cursor);
this.r_step_5d();
this.cursor = this.limit - (v_22);
v_23 = this.limit - (this.cursor);
this.r_step_5e();
this.cursor = this.limit - (v_23);
v_24 = this.limit - (this.cursor);
this.r_step_5f();
this.cursor = this.limit - (v_24);
v_25 = this.limit - (this.cursor);
this.r_step_5g();
this.cursor = this.limit - (v_25);
v_26 = this.limit - (this.cursor);
this.r_step_5h();
this.cursor = this.limit - (v_26);
v_27 = this.limit - (this.cursor);
this.r_step_5j();
this.cursor = this.limit - (v_27);
v_28 = this.limit - (this.cursor);
this.r_step_5i();
this.cursor = this.limit - (v_28);
v_29 = this.limit - (this.cursor);
this.r_step_5k();
this.cursor = this.limit - (v_29);
v_30 = this.limit - (this.cursor);
this.r_step_5l();
this.cursor = this.limit - (v_30);
v_31 = this.limit - (this.cursor);
this.r_step_5m();
this.cursor = this.limit - (v_31);
v_32 = this.limit - (this.cursor);
this.r_step_6();
this.cursor = this.limit - (v_32);
v_33 = this.limit - (this.cursor);
this.r_step_7();
this.cursor = this.limit - (v_33);
this.cursor = this.limit_backward;
return true;
}
static a_0 = [["",-1,25],["Ά",0,1],["Έ",0,5],["Ή",0,7],["Ί",0,9],["Ό",0,15],["Ύ",0,20],["Ώ",0,24],["ΐ",0,7],["Α",0,1],["Β",0,2],["Γ",0,3],["Δ",0,4],["Ε",0,5],["Ζ",0,6],["Η",0,7],["Θ",0,8],["Ι",0,9],["Κ",0,10],["Λ",0,11],["Μ",0,12],["Ν",0,13],["Ξ",0,14],["Ο",0,15],["Π",0,16],["Ρ",0,17],["Σ",0,18],["Τ",0,19],["Υ",0,20],["Φ",0,21],["Χ",0,22],["Ψ",0,23],["Ω",0,24],["Ϊ",0,9],["Ϋ",0,20],["ά",0,1],["έ",0,5],["ή",0,7],["ί",0,9],["ΰ",0,20],["ς",0,18],["ϊ",0,7],["ϋ",0,20],["ό",0,15],["ύ",0,20],["ώ",0,24]];
static a_1 = [["σκαγια",-1,2],["φαγια",-1,1],["ολογια",-1,3],["σογια",-1,4],["τατογια",-1,5],["κρεατα",-1,6],["περατα",-1,7],["τερατα",-1,8],["γεγονοτα",-1,11],["καθεστωτα",-1,10],["φωτα",-1,9],["περατη",-1,7],["σκαγιων",-1,2],["φαγιων",-1,1],["ολογιων",-1,3],["σογιων",-1,4],["τατογιων",-1,5],["κρεατων",-1,6],["περατων",-1,7],["τερατων",-1,8],["γεγονοτων",-1,11],["καθεστωτων",-1,10],["φωτων",-1,9],["κρεασ",-1,6],["περασ",-1,7],["τερασ",-1,8],["γεγονοσ",-1,11],["κρεατοσ",-1,6],["περατοσ",-1,7],["τερατοσ",-1,8],["γεγονοτοσ",-1,11],["καθεστωτοσ",-1,10],["φωτοσ",-1,9],["καθεστωσ",-1,10],["φωσ",-1,9],["σκαγιου",-1,2],["φαγιου",-1,1],["ολογιου",-1,3],["σογιου",-1,4],["τατογιου",-1,5]];
static as_1 = ["φα","σκα","ολο","σο","τατο","κρε","περ","τερ","φω","καθεστ","γεγον"];
static a_2 = [["πα",-1,1],["ξαναπα",0,1],["επα",0,1],["περιπα",0,1],["αναμπα",0,1],["εμπα",0,1],["β",-1,2],["δανε",-1,1],["βαθυρι",-1,2],["βαρκ",-1,2],["μαρκ",-1,2],["λ",-1,2],["μ",-1,2],["κορν",-1,2],["αθρο",-1,1],["συναθρο",14,1],["π",-1,2],["ιμπ",16,2],["ρ",-1,2],["μαρ",18,2],["αμπαρ",18,2],["γκρ",18,2],["βολβορ",18,2],["γλυκορ",18,2],["πιπερορ",18,2],["πρ",18,2],["μπρ",25,2],["αρρ",18,2],["γλυκυρ",18,2],["πολυρ",18,2],["λου",-1,2]];
static as_2 = ["ι","ιζ"];
static a_3 = [["ιζα",-1,1],["ιζε",-1,1],["ιζαμε",-1,1],["ιζουμε",-1,1],["ιζανε",-1,1],["ιζουνε",-1,1],["ιζατε",-1,1],["ιζετε",-1,1],["ιζει",-1,1],["ιζαν",-1,1],["ιζουν",-1,1],["ιζεσ",-1,1],["ιζεισ",-1,1],["ιζω",-1,1]];
static a_4 = [["βι",-1,1],["λι",-1,1],["αλ",-1,1],["εν",-1,1],["σ",-1,1],["χ",-1,1],["υψ",-1,1],["ζω",-1,1]];
static a_5 = [["ωθηκα",-1,1],["ωθηκε",-1,1],["ωθηκαμε",-1,1],["ωθηκανε",-1,1],["ωθηκατε",-1,1],["ωθηκαν",-1,1],["ωθηκεσ",-1,1]];
static a_6 = [["ξαναπα",-1,1],["επα",-1,1],["περιπα",-1,1],["αναμπα",-1,1],["εμπα",-1,1],["χαρτοπα",-1,1],["εξαρχα",-1,1],["γε",-1,2],["γκε",-1,2],["κλε",-1,1],["εκλε",9,1],["απεκλε",10,1],["αποκλε",9,1],["εσωκλε",9,1],["δανε",-1,1],["πε",-1,1],["επε",15,1],["μετεπε",16,1],["εσε",-1,1],["γκ",-1,2],["μ",-1,2],["πουκαμ",20,2],["κομ",20,2],["αν",-1,2],["ολο",-1,2],["αθρο",-1,1],["συναθρο",25,1],["π",-1,2],["λαρ",-1,2],["δημοκρατ",-1,2],["αφ",-1,2],["γιγαντοαφ",30,2]];
static as_6 = ["ι","ισ"];
static a_7 = [["ισα",-1,1],["ισαμε",-1,1],["ισανε",-1,1],["ισε",-1,1],["ισατε",-1,1],["ισαν",-1,1],["ισεσ",-1,1]];
static a_8 = [["ξαναπα",-1,1],["επα",-1,1],["περιπα",-1,1],["αναμπα",-1,1],["εμπα",-1,1],["χαρτοπα",-1,1],["εξαρχα",-1,1],["κλε",-1,1],["εκλε",7,1],["απεκλε",8,1],["αποκλε",7,1],["εσωκλε",7,1],["δανε",-1,1],["πε",-1,1],["επε",13,1],["μετεπε",14,1],["εσε",-1,1],["αθρο",-1,1],["συναθρο",17,1]];
static a_9 = [["ισουμε",-1,1],["ισουνε",-1,1],["ισετε",-1,1],["ισει",-1,1],["ισουν",-1,1],["ισεισ",-1,1],["ισω",-1,1]];
static a_10 = [["ατα",-1,2],["φα",-1,2],["ηφα",1,2],["μεγ",-1,2],["λυγ",-1,2],["ηδ",-1,2],["κλε",-1,1],["εσωκλε",6,1],["πλε",-1,1],["δανε",-1,1],["σε",-1,1],["ασε",10,1],["καθ",-1,2],["εχθ",-1,2],["κακ",-1,2],["μακ",-1,2],["σκ",-1,2],["φιλ",-1,2],["κυλ",-1,2],["μ",-1,2],["γεμ",19,2],["αχν",-1,2],["συναθρο",-1,1],["π",-1,2],["απ",23,2],["εμπ",23,2],["ευπ",23,2],["αρ",-1,2],["αορ",-1,2],["γυρ",-1,2],["χρ",-1,2],["χωρ",-1,2],["κτ",-1,2],["ακτ",32,2],["χτ",-1,2],["αχτ",34,2],["ταχ",-1,2],["σχ",-1,2],["ασχ",37,2],["υψ",-1,2]];
static as_10 = ["ι","ιστ"];
static a_11 = [["ιστα",-1,1],["ιστε",-1,1],["ιστη",-1,1],["ιστοι",-1,1],["ιστων",-1,1],["ιστο",-1,1],["ιστεσ",-1,1],["ιστησ",-1,1],["ιστοσ",-1,1],["ιστουσ",-1,1],["ιστου",-1,1]];
static a_12 = [["εγκλε",-1,1],["αποκλε",-1,1],["δανε",-1,2],["αντιδανε",2,2],["σε",-1,1],["μετασε",4,1],["μικροσε",4,1]];
static as_12 = ["ισμ","ι"];
static a_13 = [["ατομικ",-1,2],["εθνικ",-1,4],["τοπικ",-1,7],["εκλεκτικ",-1,5],["σκεπτικ",-1,6],["γνωστικ",-1,3],["αγνωστικ",5,1],["αλεξανδριν",-1,8],["θεατριν",-1,10],["βυζαντιν",-1,9]];
static as_13 = ["αγνωστ","ατομ","γνωστ","εθν","εκλεκτ","σκεπτ","τοπ","αλεξανδρ","βυζαντ","θεατρ"];
static a_14 = [["ισμοι",-1,1],["ισμων",-1,1],["ισμο",-1,1],["ισμοσ",-1,1],["ισμουσ",-1,1],["ισμου",-1,1]];
static a_15 = [["σ",-1,1],["χ",-1,1]];
static a_16 = [["ουδακια",-1,1],["αρακια",-1,1],["ουδακι",-1,1],["αρακι",-1,1]];
static a_17 = [["β",-1,2],["βαμβ",0,1],["σλοβ",0,1],["τσεχοσλοβ",2,1],["καρδ",-1,2],["ζ",-1,2],["τζ",5,1],["κ",-1,1],["καπακ",7,1],["σοκ",7,1],["σκ",7,1],["βαλ",-1,2],["μαλ",-1,1],["γλ",-1,2],["τριπολ",-1,2],["πλ",-1,1],["λουλ",-1,1],["φυλ",-1,1],["καιμ",-1,1],["κλιμ",-1,1],["φαρμ",-1,1],["γιαν",-1,2],["σπαν",-1,1],["ηγουμεν",-1,2],["κον",-1,1],["μακρυν",-1,2],["π",-1,2],["κατραπ",26,1],["ρ",-1,1],["βρ",28,1],["λαβρ",29,1],["αμβρ",29,1],["μερ",28,1],["πατερ",28,2],["ανθρ",28,1],["κορ",28,1],["σ",-1,1],["ναγκασ",36,1],["τοσ",36,2],["μουστ",-1,1],["ρυ",-1,1],["φ",-1,1],["σφ",41,1],["αλισφ",42,1],["νυφ",41,2],["χ",-1,1]];
static as_17 = ["ακ","ιτσ"];
static a_18 = [["ακια",-1,1],["αρακια",0,1],["ιτσα",-1,1],["ακι",-1,1],["αρακι",3,1],["ιτσων",-1,1],["ιτσασ",-1,1],["ιτσεσ",-1,1]];
static a_19 = [["ψαλ",-1,1],["αιφν",-1,1],["ολο",-1,1],["ιρ",-1,1]];
static a_20 = [["ε",-1,1],["παιχν",-1,1]];
static a_21 = [["ιδια",-1,1],["ιδιων",-1,1],["ιδιο",-1,1]];
static a_22 = [["ιβ",-1,1],["δ",-1,1],["φραγκ",-1,1],["λυκ",-1,1],["οβελ",-1,1],["μην",-1,1],["ρ",-1,1]];
static a_23 = [["ισκε",-1,1],["ισκο",-1,1],["ισκοσ",-1,1],["ισκου",-1,1]];
static a_24 = [["αδων",-1,1],["αδεσ",-1,1]];
static a_25 = [["γιαγι",-1,-1],["θει",-1,-1],["οκ",-1,-1],["μαμ",-1,-1],["μαν",-1,-1],["μπαμπ",-1,-1],["πεθερ",-1,-1],["πατερ",-1,-1],["κυρ",-1,-1],["νταντ",-1,-1]];
static a_26 = [["εδων",-1,1],["εδεσ",-1,1]];
static a_27 = [["μιλ",-1,1],["δαπ",-1,1],["γηπ",-1,1],["ιπ",-1,1],["εμπ",-1,1],["οπ",-1,1],["κρασπ",-1,1],["υπ",-1,1]];
static a_28 = [["ουδων",-1,1],["ουδεσ",-1,1]];
static a_29 = [["τραγ",-1,1],["φε",-1,1],["καλιακ",-1,1],["αρκ",-1,1],["σκ",-1,1],["πεταλ",-1,1],["βελ",-1,1],["λουλ",-1,1],["φλ",-1,1],["χν",-1,1],["πλεξ",-1,1],["σπ",-1,1],["φρ",-1,1],["σ",-1,1],["λιχ",-1,1]];
static a_30 = [["εων",-1,1],["εωσ",-1,1]];
static a_31 = [["δ",-1,1],["ιδ",0,1],["θ",-1,1],["γαλ",-1,1],["ελ",-1,1],["ν",-1,1],["π",-1,1],["παρ",-1,1]];
static a_32 = [["ια",-1,1],["ιων",-1,1],["ιου",-1,1]];
static a_33 = [["ικα",-1,1],["ικων",-1,1],["ικο",-1,1],["ικου",-1,1]];
static a_34 = [["αδ",-1,1],["συναδ",0,1],["καταδ",0,1],["αντιδ",-1,1],["ενδ",-1,1],["φυλοδ",-1,1],["υποδ",-1,1],["πρωτοδ",-1,1],["εξωδ",-1,1],["ηθ",-1,1],["ανηθ",9,1],["ξικ",-1,1],["αλ",-1,1],["αμμοχαλ",12,1],["συνομηλ",-1,1],["μπολ",-1,1],["μουλ",-1,1],["τσαμ",-1,1],["βρωμ",-1,1],["αμαν",-1,1],["μπαν",-1,1],["καλλιν",-1,1],["ποστελν",-1,1],["φιλον",-1,1],["καλπ",-1,1],["γερ",-1,1],["χασ",-1,1],["μποσ",-1,1],["πλιατσ",-1,1],["πετσ",-1,1],["πιτσ",-1,1],["φυσ",-1,1],["μπαγιατ",-1,1],["νιτ",-1,1],["πικαντ",-1,1],["σερτ",-1,1]];
static a_35 = [["αγαμε",-1,1],["ηκαμε",-1,1],["ηθηκαμε",1,1],["ησαμε",-1,1],["ουσαμε",-1,1]];
static a_36 = [["βουβ",-1,1],["ξεθ",-1,1],["πεθ",-1,1],["αποθ",-1,1],["αποκ",-1,1],["ουλ",-1,1],["αναπ",-1,1],["πικρ",-1,1],["ποτ",-1,1],["αποστ",-1,1],["χ",-1,1],["σιχ",10,1]];
static a_37 = [["τρ",-1,1],["τσ",-1,1]];
static a_38 = [["αγανε",-1,1],["ηκανε",-1,1],["ηθηκανε",1,1],["ησανε",-1,1],["ουσανε",-1,1],["οντανε",-1,1],["ιοντανε",5,1],["ουντανε",-1,1],["ιουντανε",7,1],["οτανε",-1,1],["ιοτανε",9,1]];
static a_39 = [["ταβ",-1,1],["νταβ",0,1],["ψηλοταβ",0,1],["λιβ",-1,1],["κλιβ",3,1],["ξηροκλιβ",4,1],["γ",-1,1],["αγ",6,1],["τραγ",7,1],["τσαγ",7,1],["αθιγγ",6,1],["τσιγγ",6,1],["ατσιγγ",11,1],["στεγ",6,1],["απηγ",6,1],["σιγ",6,1],["ανοργ",6,1],["ενοργ",6,1],["καλπουζ",-1,1],["θ",-1,1],["μωαμεθ",19,1],["πιθ",19,1],["απιθ",21,1],["δεκ",-1,1],["πελεκ",-1,1],["ικ",-1,1],["ανικ",25,1],["βουλκ",-1,1],["βασκ",-1,1],["βραχυκ",-1,1],["γαλ",-1,1],["καταγαλ",30,1],["ολογαλ",30,1],["βαθυγαλ",30,1],["μελ",-1,1],["καστελ",-1,1],["πορτολ",-1,1],["πλ",-1,1],["διπλ",37,1],["λαοπλ",37,1],["ψυχοπλ",37,1],["ουλ",-1,1],["μ",-1,1],["ολιγοδαμ",42,1],["μουσουλμ",42,1],["δραδουμ",42,1],["βραχμ",42,1],["ν",-1,1],["αμερικαν",47,1],["π",-1,1],["αδαπ",49,1],["χαμηλοδαπ",49,1],["πολυδαπ",49,1],["κοπ",49,1],["υποκοπ",53,1],["τσοπ",49,1],["σπ",49,1],["ερ",-1,1],["γερ",57,1],["βετερ",57,1],["λουθηρ",-1,1],["κορμορ",-1,1],["περιτρ",-1,1],["ουρ",-1,1],["σ",-1,1],["βασ",64,1],["πολισ",64,1],["σαρακατσ",64,1],["θυσ",64,1],["διατ",-1,1],["πλατ",-1,1],["τσαρλατ",-1,1],["τετ",-1,1],["πουριτ",-1,1],["σουλτ",-1,1],["μαιντ",-1,1],["ζωντ",-1,1],["καστ",-1,1],["φ",-1,1],["διαφ",78,1],["στεφ",78,1],["φωτοστεφ",80,1],["περηφ",78,1],["υπερηφ",82,1],["κοιλαρφ",78,1],["πενταρφ",78,1],["ορφ",78,1],["χ",-1,1],["αμηχ",87,1],["βιομηχ",87,1],["μεγλοβιομηχ",89,1],["καπνοβιομηχ",89,1],["μικροβιομηχ",89,1],["πολυμηχ",87,1],["λιχ",87,1]];
static a_40 = [["ενδ",-1,1],["συνδ",-1,1],["οδ",-1,1],["διαθ",-1,1],["καθ",-1,1],["ραθ",-1,1],["ταθ",-1,1],["τιθ",-1,1],["εκθ",-1,1],["ενθ",-1,1],["συνθ",-1,1],["ροθ",-1,1],["υπερθ",-1,1],["σθ",-1,1],["ευθ",-1,1],["αρκ",-1,1],["ωφελ",-1,1],["βολ",-1,1],["αιν",-1,1],["πον",-1,1],["ρον",-1,1],["συν",-1,1],["βαρ",-1,1],["βρ",-1,1],["αιρ",-1,1],["φορ",-1,1],["ευρ",-1,1],["πυρ",-1,1],["χωρ",-1,1],["νετ",-1,1],["σχ",-1,1]];
static a_41 = [["παγ",-1,1],["δ",-1,1],["αδ",1,1],["θ",-1,1],["αθ",3,1],["τοκ",-1,1],["σκ",-1,1],["παρακαλ",-1,1],["σκελ",-1,1],["απλ",-1,1],["εμ",-1,1],["αν",-1,1],["βεν",-1,1],["βαρον",-1,1],["κοπ",-1,1],["σερπ",-1,1],["αβαρ",-1,1],["εναρ",-1,1],["αβρ",-1,1],["μπορ",-1,1],["θαρρ",-1,1],["ντρ",-1,1],["υ",-1,1],["νιφ",-1,1],["συρφ",-1,1]];
static a_42 = [["οντασ",-1,1],["ωντασ",-1,1]];
static a_43 = [["ομαστε",-1,1],["ιομαστε",0,1]];
static a_44 = [["π",-1,1],["απ",0,1],["ακαταπ",1,1],["συμπ",0,1],["ασυμπ",3,1],["αμεταμφ",-1,1]];
static a_45 = [["ζ",-1,1],["αλ",-1,1],["παρακαλ",1,1],["εκτελ",-1,1],["μ",-1,1],["ξ",-1,1],["προ",-1,1],["αρ",-1,1],["νισ",-1,1]];
static a_46 = [["ηθηκα",-1,1],["ηθηκε",-1,1],["ηθηκεσ",-1,1]];
static a_47 = [["πιθ",-1,1],["οθ",-1,1],["ναρθ",-1,1],["σκουλ",-1,1],["σκωλ",-1,1],["σφ",-1,1]];
static a_48 = [["θ",-1,1],["διαθ",0,1],["παρακαταθ",0,1],["συνθ",0,1],["προσθ",0,1]];
static a_49 = [["ηκα",-1,1],["ηκε",-1,1],["ηκεσ",-1,1]];
static a_50 = [["φαγ",-1,1],["ληγ",-1,1],["φρυδ",-1,1],["μαντιλ",-1,1],["μαλλ",-1,1],["ομ",-1,1],["βλεπ",-1,1],["ποδαρ",-1,1],["κυματ",-1,1],["πρωτ",-1,1],["λαχ",-1,1],["πανταχ",-1,1]];
static a_51 = [["τσα",-1,1],["χαδ",-1,1],["μεδ",-1,1],["λαμπιδ",-1,1],["δε",-1,1],["πλε",-1,1],["μεσαζ",-1,1],["δεσποζ",-1,1],["αιθ",-1,1],["φαρμακ",-1,1],["αγκ",-1,1],["ανηκ",-1,1],["λ",-1,1],["μ",-1,1],["αμ",13,1],["βρομ",13,1],["υποτειν",-1,1],["εκλιπ",-1,1],["ρ",-1,1],["ενδιαφερ",18,1],["αναρρ",18,1],["πατ",-1,1],["καθαρευ",-1,1],["δευτερευ",-1,1],["λεχ",-1,1]];
static a_52 = [["ουσα",-1,1],["ουσε",-1,1],["ουσεσ",-1,1]];
static a_53 = [["πελ",-1,1],["λλ",-1,1],["σμην",-1,1],["ρπ",-1,1],["πρ",-1,1],["φρ",-1,1],["χορτ",-1,1],["οφ",-1,1],["ψοφ",7,-1],["σφ",-1,1],["λοχ",-1,1],["ναυλοχ",10,-1]];
static a_54 = [["αμαλλι",-1,1],["λ",-1,1],["αμαλ",1,1],["μ",-1,1],["ουλαμ",3,1],["εν",-1,1],["δερβεν",5,1],["π",-1,1],["αειπ",7,1],["αρτιπ",7,1],["συμπ",7,1],["νεοπ",7,1],["κροκαλοπ",7,1],["ολοπ",7,1],["προσωποπ",7,1],["σιδηροπ",7,1],["δροσοπ",7,1],["ασπ",7,1],["ανυπ",7,1],["ρ",-1,1],["ασπαρ",19,1],["χαρ",19,1],["αχαρ",21,1],["απερ",19,1],["τρ",19,1],["ουρ",19,1],["τ",-1,1],["διατ",26,1],["επιτ",26,1],["συντ",26,1],["ομοτ",26,1],["νομοτ",30,1],["αποτ",26,1],["υποτ",26,1],["αβαστ",26,1],["αιμοστ",26,1],["προστ",26,1],["ανυστ",26,1],["ναυ",-1,1],["αφ",-1,1],["ξεφ",-1,1],["αδηφ",-1,1],["παμφ",-1,1],["πολυφ",-1,1]];
static a_55 = [["αγα",-1,1],["αγε",-1,1],["αγεσ",-1,1]];
static a_56 = [["ησα",-1,1],["ησε",-1,1],["ησου",-1,1]];
static a_57 = [["ν",-1,1],["δωδεκαν",0,1],["επταν",0,1],["μεγαλον",0,1],["ερημον",0,1],["χερσον",0,1]];
static a_58 = [["σβ",-1,1],["ασβ",0,1],["απλ",-1,1],["αειμν",-1,1],["χρ",-1,1],["αχρ",4,1],["κοινοχρ",4,1],["δυσχρ",4,1],["ευχρ",4,1],["παλιμψ",-1,1]];
static a_59 = [["ουνε",-1,1],["ηθουνε",0,1],["ησουνε",0,1]];
static a_60 = [["σπι",-1,1],["ν",-1,1],["εξων",1,1],["ρ",-1,1],["στραβομουτσ",-1,1],["κακομουτσ",-1,1]];
static a_61 = [["ουμε",-1,1],["ηθουμε",0,1],["ησουμε",0,1]];
static a_62 = [["αζ",-1,1],["ωριοπλ",-1,1],["ασουσ",-1,1],["παρασουσ",2,1],["αλλοσουσ",-1,1],["φ",-1,1],["χ",-1,1]];
static a_63 = [["ματα",-1,1],["ματων",-1,1],["ματοσ",-1,1]];
static a_64 = [["α",-1,1],["ιουμα",0,1],["ομουνα",0,1],["ιομουνα",2,1],["οσουνα",0,1],["ιοσουνα",4,1],["ε",-1,1],["αγατε",6,1],["ηκατε",6,1],["ηθηκατε",8,1],["ησατε",6,1],["ουσατε",6,1],["ειτε",6,1],["ηθειτε",12,1],["ιεμαστε",6,1],["ουμαστε",6,1],["ιουμαστε",15,1],["ιεσαστε",6,1],["οσαστε",6,1],["ιοσαστε",18,1],["η",-1,1],["ι",-1,1],["αμαι",21,1],["ιεμαι",21,1],["ομαι",21,1],["ουμαι",21,1],["ασαι",21,1],["εσαι",21,1],["ιεσαι",27,1],["αται",21,1],["εται",21,1],["ιεται",30,1],["ονται",21,1],["ουνται",21,1],["ιουνται",33,1],["ει",21,1],["αει",35,1],["ηθει",35,1],["ησει",35,1],["οι",21,1],["αν",-1,1],["αγαν",40,1],["ηκαν",40,1],["ηθηκαν",42,1],["ησαν",40,1],["ουσαν",40,1],["οντουσαν",45,1],["ιοντουσαν",46,1],["ονταν",40,1],["ιονταν",48,1],["ουνταν",40,1],["ιουνταν",50,1],["οταν",40,1],["ιοταν",52,1],["ομασταν",40,1],["ιομασταν",54,1],["οσασταν",40,1],["ιοσασταν",56,1],["ουν",-1,1],["ηθουν",58,1],["ομουν",58,1],["ιομουν",60,1],["ησουν",58,1],["οσουν",58,1],["ιοσουν",63,1],["ων",-1,1],["ηδων",65,1],["ο",-1,1],["ασ",-1,1],["εσ",-1,1],["ηδεσ",69,1],["ησεσ",69,1],["ησ",-1,1],["εισ",-1,1],["ηθεισ",73,1],["οσ",-1,1],["υσ",-1,1],["ουσ",76,1],["υ",-1,1],["ου",78,1],["ω",-1,1],["αω",80,1],["ηθω",80,1],["ησω",80,1]];
static a_65 = [["οτερ",-1,1],["εστερ",-1,1],["υτερ",-1,1],["ωτερ",-1,1],["οτατ",-1,1],["εστατ",-1,1],["υτατ",-1,1],["ωτατ",-1,1]];
}
export default GreekStemmer;
