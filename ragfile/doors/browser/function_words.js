/* Made by tools/write_function_words.py from ragfile/search/function_words.py: words that claim nothing, by language. */

const listed = (text) => new Set(text.split(" "));
export const BY_LANGUAGE = [
(
"a about after all also am an and any are aren as at be because been before being both but by can" +
" could d did didn do does doesn doing don each eg for from give had has have having he her here his" +
" how i if in into is isn it its just let ll m many may me might more most much must my no not of on" +
" only or other our out over please re s shall she should show so some such t tell than that the their" +
" them then there these they this through to too up us ve very was wasn we were what when where which" +
" while who whom whose why will with would you your"
),
(
"ab aber als am an auch auf aus bei beim bin bis bist da damit dann darf das dass dem den der des die" +
" dies diese dieser dieses doch du durch ein eine einem einen einer eines er es für gibt haben hat" +
" hatte ich ihr im in ist ja kann kein keine können lange man mein mich mir mit muss müssen nach nicht" +
" noch nur ob oder ohne sein sich sie sind so soll sollte um und uns unter viel viele vom von vor wann" +
" war warum was welche welchem welchen welcher welches wem wen wenn wer werden wessen wie wieso wir" +
" wird wo wofür woher wohin womit wozu zu zum zur über"
),
(
"ai as au aux avec avez avoir c ce cela ces cet cette combien comment d dans de des du elle en es est" +
" et fait faut il ils j je l la le les leur lui ma mais me mes moi mon n ne nos notre nous on ont ou" +
" où par pas peut peux plus pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se" +
" ses si son sont sous sur t ta te tes toi ton tu un une vos votre vous y à être"
),
(
"a al algo como con cual cuando cuanto cuál cuáles cuándo cuánta cuántas cuánto cuántos cómo de del" +
" desde donde dónde el ella en entre era es esta estas este esto estos está fue ha hace hay la las le" +
" les lo los me mi mis muy más ni no nos o para pero por porque puede puedo que quien quién qué se sea" +
" ser si sin sobre son su sus también te tiene tu tus un una unos y ya yo él"
),
(
"a ai al alla alle anche che chi ci come con cosa cui da dal dalla de dei del della delle di dove e" +
" ed era gli ha hanno ho i il in io l la le lo loro ma mi mio nel nella non o per perché più può qual" +
" quale quali quando quanta quante quanti quanto se si sono su sua suo tra tu un una uno è"
),
(
"a ao aos as com como da das de do dos e ela ele em entre era essa esse esta este está eu foi há isso" +
" já lhe mais mas me meu minha muito na nas no nos não o onde os ou para pela pelo pode por porque" +
" posso quais qual quando quanta quantas quanto quantos que quem se sem ser seu sua são também te tem" +
" um uma você é"
),
(
"aan al als bij dan dat de deze die dit door een en er haar had heb hebben heeft hem het hij hoe" +
" hoeveel hun ik in is je kan kunnen maar me met mij mijn moet na naar niet nog nu of om ons ook op" +
" over te tot u uit van veel voor waar waarom wanneer was wat we welk welke werd wie wij worden wordt" +
" ze zich zijn zou"
),
].map(listed);
export const PAIRS = listed("为什 么是 么样 什么 可以 哪个 哪些 哪种 哪里 多少 如何 怎么 怎样 是什 是否 有什 能否 请问 가요 까요 나요 누가 니까 니다 떻게 려면 무엇 습니 어디 어떻 언제 엇입 에서 위한 위해 으로 인가 입니 하고 하기 하는 하려");
export const AMOUNTS = listed("big deep far fast heavy high large late long often old quickly soon tall wide");
