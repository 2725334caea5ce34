/* language_tables.h - the languages of `languages=1`, and their common words.
 *
 * Made by tools/languages.py from spec/languages.toml. Do not edit. */
#ifndef RAG_LANGUAGE_TABLES_H
#define RAG_LANGUAGE_TABLES_H

#include "ragfile/languages.h"

/* clang-format off */
static const struct rag_language languages[] = {
    {"en", "english", "", RAG_ACCENTS_STRIP,
     "a an and are as at be but by eg for i if in into is it no not of on or such that the their "
     "then there these they this to was will with"},
    {"cs", "czech", "", RAG_ACCENTS_KEEP,
     "a aby ale ani ano bez by byl byla bylo byly b\303\275t co dal\305\241\303\255 do ho i jak "
     "jako je jeho jejich jej\303\255 jen je\305\241t\304\233 ji\305\276 jsem jsme jsou j\303\241 "
     "j\303\255 k kde kdo kdy\305\276 ke kter\303\241 kter\303\251 kter\303\275 ma mezi mi mu "
     "m\303\241 m\304\233 na nad nebo ne\305\276 nic o od on ona oni po pod pokud pro proto "
     "p\305\231ed p\305\231i s se si sv\305\257j ta tak tak\303\251 tam tato te tedy ten tento to "
     "tohoto tomto toto tu ty t\303\255m t\304\233chto u u\305\276 v ve vy v\305\241ak "
     "v\305\241ech z za ze \305\276e"},
    {"da", "danish", "\303\245", RAG_ACCENTS_FOREIGN,
     "af alle andet at blev da de den der deres det dig din dog du efter eller en end er et for "
     "fra ham han har havde hun hvad i ikke ind jeg kan man med men mig min ned noget nu "
     "n\303\245r og ogs\303\245 om op os over p\303\245 sig sin skal som s\303\245dan til ud "
     "under var ved vi vil v\303\246re"},
    {"de", "german", "\303\244\303\266\303\274", RAG_ACCENTS_FOREIGN,
     "aber als am an auch auf aus bei bin bis bist da damit das dass dem den der des die dies "
     "diese diesem diesen dieser dieses durch ein eine einem einen einer eines er es f\303\274r "
     "hat ich ihr im in ist kann man mit nach nicht noch nur ob oder sich sie sind so um und uns "
     "unter vom von vor war was wenn wer wie wir wird wo zu zum zur \303\274ber"},
    {"el", "greek", "", RAG_ACCENTS_KEEP,
     "\316\255\316\275\316\261 \316\255\316\275\316\261\317\202 \316\256 \316\261\316\275 "
     "\316\261\317\205\317\204\316\254 \316\261\317\205\317\204\316\255\317\202 "
     "\316\261\317\205\317\204\316\256 \316\261\317\205\317\204\317\214 "
     "\316\261\317\205\317\204\317\214\317\202 \316\263\316\271\316\261 \316\264\316\265 "
     "\316\264\316\265\316\275 \316\265\316\257\316\275\316\261\316\271 \316\265\316\263\317\216 "
     "\316\265\316\272\316\265\316\257 \316\265\316\274\316\265\316\257\317\202 \316\267 "
     "\316\270\316\261 \316\272\316\261\316\271 \316\272\316\261\317\204\316\254 \316\274\316\261 "
     "\316\274\316\261\317\202 \316\274\316\265 \316\274\316\267 \316\274\316\267\316\275 "
     "\316\274\316\271\316\261 \316\274\316\277\317\205 \316\275\316\261 \316\277 "
     "\316\277\316\271 \317\200\316\277\316\273\317\215 \317\200\316\277\317\205 "
     "\317\200\317\201\316\277\317\202 \317\200\317\211\317\202 \317\200\317\216\317\202 "
     "\317\203\316\261\317\202 \317\203\316\265 \317\203\317\204\316\261 \317\203\317\204\316\267 "
     "\317\203\317\204\316\267\316\275 \317\203\317\204\316\271\317\202 \317\203\317\204\316\277 "
     "\317\203\317\204\316\277\316\275 \317\203\317\204\316\277\317\205\317\202 \317\204\316\261 "
     "\317\204\316\267 \317\204\316\267\316\275 \317\204\316\267\317\202 \317\204\316\271 "
     "\317\204\316\271\317\202 \317\204\316\277 \317\204\316\277\316\275 \317\204\316\277\317\205 "
     "\317\204\316\277\317\205\317\202 \317\204\317\211\316\275 \317\211\317\202 "
     "\317\214\317\200\317\211\317\202 \317\214\317\204\316\261\316\275 \317\214\317\204\316\271 "
     "\317\214\317\207\316\271"},
    {"es", "spanish", "\303\261", RAG_ACCENTS_FOLD,
     "a al como con cuando de del desde donde e el ella ellos en entre era es esta este esto hay "
     "la las le les lo los me mi muy m\303\241s ni no nos o para pero por que qu\303\251 se ser "
     "si sin sobre son su sus tambi\303\251n te un una uno y ya"},
    {"fi", "finnish", "\303\245\303\244\303\266", RAG_ACCENTS_FOREIGN,
     "ei eiv\303\244t ett\303\244 he h\303\244n ja joka jos kanssa kuin kun me min\303\244 "
     "mit\303\244 mutta my\303\266s niin n\303\244m\303\244 oli olla on ovat se sek\303\244 sen "
     "siit\303\244 sin\303\244 tai te t\303\244m\303\244 vaan voi"},
    {"fr", "french", "", RAG_ACCENTS_FOLD,
     "a au aux avec c ce ces cet cette comme d dans de des du elle elles en est et il ils j je l "
     "la le les leur lui l\303\240 m mais me m\303\252me n ne nous on ou o\303\271 par pas pour "
     "qu que qui s sa se ses si son sont sur t te tu un une vous y \303\240 \303\251t\303\251 "
     "\303\252tre"},
    {"hu", "hungarian", "", RAG_ACCENTS_KEEP,
     "a akkor alatt amely amelyek ami annak arra az azok azonban azt be csak de e egy el ennek "
     "erre ez ezek ezt fel ha hogy is itt kell ki le lehet meg mert mi mint m\303\241r m\303\251g "
     "ne nem nincs ott sem te ti ut\303\241n vagy van volt \303\251n \303\251s \303\255gy "
     "\303\272gy \305\221 \305\221k"},
    {"it", "italian", "", RAG_ACCENTS_FOLD,
     "a ad ai al alla alle allo anche che chi ci come con d da dal dalla dei del della delle "
     "dello di dove e ed gli ha ho i il in io l la le lei lo loro lui ma mi ne nei nel nella no "
     "noi non o per pi\303\271 quale quando se si sono su sul sulla tra un una uno vi \303\250"},
    {"nl", "dutch", "", RAG_ACCENTS_FOREIGN,
     "aan als bij dan dat de der des deze die dit door een en er heeft het hij hoe hun ik in is "
     "je kan maar me met mij naar niet nog of om onder ook op over te tot u uit van veel voor was "
     "wat we wel werd wie wij worden zal ze zich zij zijn zo"},
    {"no", "norwegian", "\303\245", RAG_ACCENTS_FOREIGN,
     "alle at av bare ble da de den der deres det du eller en enn er et for fra ha han har hun "
     "hva i ikke inn jeg kan man med men mot n\303\245 n\303\245r og ogs\303\245 om opp over "
     "p\303\245 seg sin skal som til under ut var ved vi vil \303\245"},
    {"pl", "polish", "", RAG_ACCENTS_KEEP,
     "a aby ale bez bo by by\304\207 by\305\202 by\305\202a by\305\202o by\305\202y chce co czy "
     "dla do gdy gdzie go i ich ile im ja jak jako je jego jej jest je\305\233li ju\305\274 kto "
     "kt\303\263ra kt\303\263re kt\303\263ry lub ma mnie mo\305\274e mu my na nad nas nie "
     "ni\305\274 o od on ona oni oraz po pod przed przez przy si\304\231 s\304\205 ta tak "
     "tak\305\274e tam te tego tej ten to tu tych tym u w we wi\304\231c wszystkie z za ze "
     "\305\274e"},
    {"pt", "portuguese", "", RAG_ACCENTS_FOLD,
     "a ao aos as com como da das de do dos e ela ele em entre era essa esse esta este eu foi "
     "h\303\241 isso isto j\303\241 lhe mais mas me mesmo na nas no nos n\303\243o o os ou para "
     "pela pelas pelo pelos por qual quando que quem se sem ser seu seus sua suas s\303\243o "
     "s\303\263 tamb\303\251m tem um uma \303\240 \303\251"},
    {"ro", "romanian", "", RAG_ACCENTS_KEEP,
     "a ai al ale am ar are au a\310\231 ca care ce cea cei cel cele cu cum c\303\242nd c\304\203 "
     "da dac\304\203 dar de deci dec\303\242t din dup\304\203 ea ei el ele este eu fi fie fost i "
     "iar l la le li lor lui mai mi ne nici ni\310\231te nu o or ori pe pentru prin s sa sale sau "
     "se su sunt s\304\203 te tu un una unde unei unor unui va vor v\304\203 \303\256i \303\256l "
     "\303\256n \303\256\310\231i \310\231i \310\233i"},
    {"ru", "russian", "", RAG_ACCENTS_KEEP,
     "\320\260 \320\261\320\265\320\267 \320\261\320\276\320\273\320\265\320\265 \320\261\321\213 "
     "\320\261\321\213\320\273 \320\261\321\213\320\273\320\260 \320\261\321\213\320\273\320\270 "
     "\320\261\321\213\320\273\320\276 \320\261\321\213\321\202\321\214 \320\262 "
     "\320\262\320\260\320\274 \320\262\320\260\321\201 \320\262\320\265\321\201\321\214 "
     "\320\262\320\276 \320\262\320\276\321\202 \320\262\321\201\320\265 \320\262\321\213 "
     "\320\263\320\264\320\265 \320\264\320\260 \320\264\320\273\321\217 \320\264\320\276 "
     "\320\265\320\263\320\276 \320\265\320\265 \320\265\321\201\320\273\320\270 "
     "\320\265\321\201\321\202\321\214 \320\265\321\211\320\265 \320\266\320\265 \320\267\320\260 "
     "\320\270 \320\270\320\267 \320\270\320\273\320\270 \320\270\320\274 \320\270\321\205 "
     "\320\272 \320\272\320\260\320\272 \320\272\320\276 \320\272\320\276\320\263\320\264\320\260 "
     "\320\272\321\202\320\276 \320\273\320\270 \320\274\321\213 \320\275\320\260 "
     "\320\275\320\260\320\264 \320\275\320\265 \320\275\320\265\321\202 \320\275\320\270 "
     "\320\275\320\276 \320\276 \320\276\320\261 \320\276\320\275 \320\276\320\275\320\260 "
     "\320\276\320\275\320\270 \320\276\320\275\320\276 \320\276\321\202 \320\277\320\276 "
     "\320\277\320\276\320\264 \320\277\321\200\320\270 \321\201 \321\201\320\276 "
     "\321\202\320\260\320\272 \321\202\320\260\320\272\320\266\320\265 \321\202\320\276 "
     "\321\202\320\276\320\263\320\276 \321\202\320\276\320\266\320\265 "
     "\321\202\320\276\320\273\321\214\320\272\320\276 \321\203 \321\203\320\266\320\265 "
     "\321\207\321\202\320\276 \321\207\321\202\320\276\320\261\321\213 \321\215\321\202\320\276 "
     "\321\215\321\202\320\276\321\202 \321\217"},
    {"sv", "swedish", "\303\245\303\244\303\266", RAG_ACCENTS_FOREIGN,
     "alla att av bara blev bli de dem den denna deras det detta dig din du d\303\244r efter ej "
     "eller en er ett fr\303\245n f\303\266r ha han har hon hur i icke in inte jag kan man med "
     "men mig min mot ni nu n\303\244r och om oss p\303\245 sig sin ska som s\303\245 till under "
     "upp ut utan vad var vi vid vilken \303\244r \303\266ver"},
    {"tr", "turkish", "", RAG_ACCENTS_KEEP,
     "acaba ama ancak asl\304\261nda az baz\304\261 belki ben beni benim bir biri birka\303\247 "
     "biz bu buna bunda bundan bunu bunun b\303\266yle da daha de defa diye en gibi hem hep hepsi "
     "her hi\303\247 ile ise i\303\247in i\305\237te kadar kez ki kim mi mu m\303\274 m\304\261 "
     "nas\304\261l ne neden nerede o olan olarak ona ondan onlar onu onun sanki siz t\303\274m ve "
     "veya ya yani \303\247ok \303\247\303\274nk\303\274 \305\237ey \305\237u"},
};

/* By number: words that claim nothing in a question, and words that mark one. */
static const struct rag_question_words question_words[] = {
    {"a about after all also am an and any are aren as at be because been before being both but "
     "by can could d did didn do does doesn doing don each eg for from give had has have having "
     "he her here his how i if in into is isn it its just let ll m many may me might more most "
     "much must my no not of on only or other our out over please re s shall she should show so "
     "some such t tell than that the their them then there these they this through to too up us "
     "ve very was wasn we were what when where which while who whom whose why will with would you "
     "your",
     "are can could did do does has have how is should was were what when where which who whom "
     "whose why"},
    {"a aby ale ani ano bez bude budou by byl byla bylo byly b\303\275t chcete co "
     "dal\305\241\303\255 dal\305\241\303\255ch do ho i jak jako je jeho jejich jej\303\255 "
     "jej\303\255ho jen jestli\305\276e je\305\241t\304\233 ji\305\276 jsem jsme jsou j\303\241 "
     "j\303\255 k ka\305\276d\303\251 ka\305\276d\303\275 kde kdo kdy kdy\305\276 ke kolik kterou "
     "kter\303\241 kter\303\251 kter\303\275 kter\303\275ch lze ma mezi mi mohou mu mus\303\255 "
     "m\303\241 m\304\233 m\304\233l m\305\257\305\276e m\305\257\305\276ete na nad "
     "nap\305\231\303\255klad nebo nejsou nen\303\255 ne\305\276 nic nich nyn\303\255 n\304\233 "
     "n\304\233kter\303\251 o od on ona oni pak po pod pokud pomoc\303\255 potom pro proto "
     "proto\305\276e pro\304\215 prvn\303\255 p\305\231ed p\305\231i s se si stejn\304\233 svou "
     "sv\303\251 sv\305\257j ta tak takov\303\251 takto tak\303\251 tam tato te tedy ten tento to "
     "tohoto tom tomto toto tu ty t\303\251to t\303\255m t\304\233chto u u\305\276 v va\305\241e "
     "ve vy v\303\241m v\303\241\305\241 v\305\241ak v\305\241ech v\305\241echno v\305\241echny z "
     "za zda zde ze \305\276e",
     "co jak jak\303\241 jak\303\251 jak\303\275 kde kdo kdy kolik kter\303\241 kter\303\251 "
     "kter\303\275 pro\304\215"},
    {"af alle andet at blev blive bliver brug bruge bruges da de den dens der deres det dets dig "
     "din dog du efter eller en end er et findes for fordi fra g\303\270r ham han hans har havde "
     "hendes hun hvad hvem hver hvilke hvilken hvilket hvis hvor hvordan hvorfor hvorledes "
     "hvorn\303\245r i ikke ind ingen jeg jer jeres kan kunne lige man mange med meget men mig "
     "min mit mod m\303\245 m\303\245de ned noen nogen noget nogle nu n\303\245r og ogs\303\245 "
     "om op os over p\303\245 selv siden sig sin skal skulle som s\303\245dan til ud under var "
     "ved vi vil vores v\303\246re",
     "hvad hvem hvilke hvilken hvilket hvor hvordan hvorfor hvorn\303\245r"},
    {"ab aber alle allem allen aller alles als also am an anderen auch auf aus bei beim bereits "
     "bevor bin bis bist bzw da dadurch daf\303\274r daher damit dann darf das dass davon dazu "
     "dem den denn der deren derer des dessen die dies diese diesem diesen dieser dieses doch "
     "dort du durch eigenen ein eine einem einen einer eines einige er es etwa etwas falls ferner "
     "folgende folgenden f\303\274r gegen gibt haben hat hatte hier hierbei ich ihr ihre ihrem "
     "ihren ihrer im immer in indem innerhalb ins ist ja jede jedem jeden jeder jedes jedoch "
     "jetzt kann kein keine k\303\266nnen k\303\266nnte lange man mehr mehrere mein mich mir mit "
     "muss m\303\266chten m\303\274ssen m\303\274sste nach nachdem neben nicht nichts noch nun "
     "nur ob oben oder ohne sein seine seinen seiner seit selbst sich sie sind so sobald sodass "
     "sofern solche soll sollte somit sondern sonst sowie statt trotz um und uns unsere unserer "
     "unter viel viele vom von vor wann war warum was weil weitere weiterhin welche welchem "
     "welchen welcher welches wem wen wenig weniger wenn wer werden wessen wie wieder wieso wir "
     "wird wo wof\303\274r woher wohin womit worden wozu wurde wurden w\303\244hrend zu zum zur "
     "zwischen \303\274ber",
     "darf wann warum was welche welchem welchen welcher welches wem wen wer weshalb wessen wie "
     "wieso wo woher wohin womit wozu"},
    {"\316\254\316\273\316\273\316\261 \316\254\316\273\316\273\316\277 \316\255\316\275\316\261 "
     "\316\255\316\275\316\261\317\202 \316\255\317\207\316\265\316\271 "
     "\316\255\317\207\316\265\317\204\316\265 \316\255\317\207\316\277\317\205\316\275 \316\256 "
     "\316\256\317\204\316\261\316\275 \316\261\316\273\316\273\316\254 \316\261\316\275 "
     "\316\261\317\200\317\214 \316\261\317\205\317\204\316\254 "
     "\316\261\317\205\317\204\316\255\317\202 \316\261\317\205\317\204\316\256 "
     "\316\261\317\205\317\204\317\214 \316\261\317\205\317\204\317\214\317\202 "
     "\316\263\316\271\316\261 \316\263\316\271\316\261\317\204\316\257 \316\264\316\265 "
     "\316\264\316\265\316\275 \316\265\316\254\316\275 \316\265\316\257\316\275\316\261\316\271 "
     "\316\265\316\263\317\216 \316\265\316\272\316\265\316\257 "
     "\316\265\316\274\316\265\316\257\317\202 \316\265\317\200\316\257\317\203\316\267\317\202 "
     "\316\265\317\200\316\265\316\271\316\264\316\256 \316\267 \316\270\316\261 "
     "\316\272\316\254\316\270\316\265 \316\272\316\254\317\200\316\277\316\271\316\261 "
     "\316\272\316\254\317\200\316\277\316\271\316\277 \316\272\316\254\317\204\316\271 "
     "\316\272\316\261\316\271 \316\272\316\261\317\204\316\254 \316\274\316\255\317\203\316\261 "
     "\316\274\316\261 \316\274\316\261\317\202 \316\274\316\265 \316\274\316\265\317\204\316\254 "
     "\316\274\316\267 \316\274\316\267\316\275 \316\274\316\271\316\261 \316\274\316\277\317\205 "
     "\316\274\317\200\316\277\317\201\316\265\316\257 "
     "\316\274\317\200\316\277\317\201\316\265\316\257\317\204\316\265 "
     "\316\274\317\214\316\275\316\277 \316\275\316\261 \316\277 \316\277\316\271 "
     "\317\200\316\277\316\271\316\261 \317\200\316\277\316\271\316\277 "
     "\317\200\316\277\316\271\316\277\317\202 \317\200\316\277\316\273\317\215 "
     "\317\200\316\277\317\205 \317\200\316\277\317\215 "
     "\317\200\317\201\316\255\317\200\316\265\316\271 \317\200\317\201\316\271\316\275 "
     "\317\200\317\201\316\277\317\202 \317\200\317\211\317\202 \317\200\317\214\317\203\316\277 "
     "\317\200\317\214\317\204\316\265 \317\200\317\216\317\202 \317\203\316\261\316\275 "
     "\317\203\316\261\317\202 \317\203\316\265 \317\203\317\204\316\261 \317\203\317\204\316\267 "
     "\317\203\317\204\316\267\316\275 \317\203\317\204\316\271\317\202 \317\203\317\204\316\277 "
     "\317\203\317\204\316\277\316\275 \317\203\317\204\316\277\317\205\317\202 \317\204\316\261 "
     "\317\204\316\267 \317\204\316\267\316\275 \317\204\316\267\317\202 \317\204\316\271 "
     "\317\204\316\271\317\202 \317\204\316\277 \317\204\316\277\316\275 \317\204\316\277\317\205 "
     "\317\204\316\277\317\205\317\202 \317\204\317\211\316\275 \317\204\317\214\317\204\316\265 "
     "\317\207\317\211\317\201\316\257\317\202 \317\211\317\202 \317\214\316\273\316\261 "
     "\317\214\316\273\316\265\317\202 \317\214\316\273\316\277\316\271 "
     "\317\214\317\200\317\211\317\202 \317\214\317\203\316\277 \317\214\317\204\316\261\316\275 "
     "\317\214\317\204\316\271 \317\214\317\207\316\271 \317\216\317\203\317\204\316\265",
     "\316\263\316\271\316\261\317\204\316\257 \317\200\316\277\316\271\316\261 "
     "\317\200\316\277\316\271\316\277 \317\200\316\277\316\271\316\277\317\202 "
     "\317\200\316\277\317\215 \317\200\317\214\317\203\316\261 \317\200\317\214\317\203\316\277 "
     "\317\200\317\214\317\204\316\265 \317\200\317\216\317\202 \317\204\316\271"},
    {"a adem\303\241s ahora al algo alguna algunas alguno algunos alg\303\272n antes aqu\303\255 "
     "as\303\255 a\303\272n cada casi como con cual cualquier cuando cuanto cuya cu\303\241l "
     "cu\303\241les cu\303\241ndo cu\303\241nta cu\303\241ntas cu\303\241nto cu\303\241ntos "
     "c\303\263mo de debe deben del desde despu\303\251s dicha dicho donde dos durante "
     "d\303\263nde e el ella ellas ellos embargo en entonces entre era es esa esas ese eso esta "
     "estar estas este esto estos est\303\241 est\303\241n fue fueron ha hab\303\255a hace hacer "
     "hacia hasta hay haya incluso la las le les lo los luego me mediante mejor menos mi mientras "
     "mis misma mismo mucho muchos muy m\303\241s nada ni no nos nuestro nueva nuevo o otra otras "
     "otro otros para pero poder por porque primero puede pueden puedo pues que quien "
     "qui\303\251n qu\303\251 se sea seg\303\272n ser ser\303\241 si sido siempre sin sino sobre "
     "solo son su sus s\303\263lo tal tambi\303\251n tanto te tiene tienen toda todas todo todos "
     "tras tu tus un una uno unos usted vez y ya yo \303\251l",
     "ad\303\263nde cu\303\241l cu\303\241les cu\303\241ndo cu\303\241nta cu\303\241ntas "
     "cu\303\241nto cu\303\241ntos c\303\263mo d\303\263nde qui\303\251n qui\303\251nes qu\303\251"},
    {"aina ei eik\303\244 eiv\303\244t ennen ett\303\244 he h\303\244n h\303\244nen ilman ja "
     "joita joka jolloin jonka jos jota jotka j\303\244lkeen kaikki kanssa kuin kuka kun kunnes "
     "kuten lis\303\244ksi me miksi mik\303\244 millainen milloin min\303\244 miss\303\244 miten "
     "mitk\303\244 mit\303\244 monta mukaan mutta my\303\266s niiden niin niit\303\244 nyt "
     "n\303\244iden n\303\244m\303\244 olen olet olevan oli olla oma on ovat pit\303\244\303\244 "
     "se sek\303\244 sen siis siit\303\244 silloin sill\303\244 sin\303\244 siten sitten tai te "
     "t\303\244m\303\244 t\303\244m\303\244n t\303\244t\303\244 vaan vai vaikka vain viel\303\244 "
     "voi voidaan voit voivat",
     "kuinka kuka miksi mik\303\244 millainen milloin miss\303\244 mist\303\244 miten "
     "mitk\303\244 mit\303\244"},
    {"a afin ai ainsi alors apr\303\250s as au aucun aucune aussi aux avant avec avez avoir bien "
     "c car ce cela ces cet cette chaque ci combien comme comment d dans de depuis des deux doit "
     "donc dont du d\303\251j\303\240 elle elles en encore entre es est et fait faut fois ici il "
     "ils j je l la le les leur leurs lors lorsque lui l\303\240 m ma mais me mes moi mon "
     "m\303\252me n ne non nos notamment notre nous nouveau on ont ou o\303\271 par pas peut "
     "peuvent peux plus plusieurs pour pourquoi pouvez puis qu quand que quel quelle quelles "
     "quels qui quoi s sa sans se sera serait ses seulement si sinon soit sommes son sont sous "
     "sur t ta te tel telle tes toi ton tous tout toute toutes tr\303\250s tu un une vers voici "
     "voir vos votre vous y \303\240 \303\251taient \303\251tait \303\251t\303\251 \303\252tre",
     "combien comment o\303\271 pourquoi quand quel quelle quelles quels qui quoi"},
    {"a ahol aki akkor alatt amely amelyek ami amikor am\303\255g annak arra az azok azonban azt "
     "az\303\251rt be benne b\303\241rmely csak de e egy egyes ehhez el el\305\221sz\303\266r "
     "el\305\221tt ennek erre eset\303\251n ez ezek ezen ezt ez\303\251rt fel ha hanem hogy "
     "hogyan hol h\303\241ny illetve is ism\303\251t itt jelenleg kell ki k\303\255v\303\274l "
     "k\303\266z\303\266tt le legyen lehet lesz lett ma majd meg mely melyik mennyi mert mi miatt "
     "mikor milyen mind minden mint mit mivel mi\303\251rt most m\303\241r m\303\251g ne nem "
     "nincs n\303\251h\303\241ny n\303\251lk\303\274l olyan ott pedig p\303\251ld\303\241ul s "
     "saj\303\241t sem szerint sz\303\241m\303\241ra sz\303\274ks\303\251ges te teh\303\241t ti "
     "tov\303\241bb\303\241 tud t\303\266bb ut\303\241n vagy valamint van vannak vele vissza "
     "viszont volna volt \303\241ltal \303\251n \303\251s \303\255gy \303\266ssze \303\272gy "
     "\305\221 \305\221k",
     "hogyan hol hov\303\241 h\303\241ny melyik mennyi mikor milyen mit mi\303\251rt"},
    {"a abbia abbiamo ad ai al alcune alcuni all alla alle allo altra altre altri altro anche "
     "ancora appena avere bisogno che chi ci ciascun ci\303\262 coi col come comunque con contro "
     "cosa cos\303\254 cui d da dagli dai dal dall dalla dalle dallo de degli dei del dell della "
     "delle dello dentro deve devono di dopo dove dunque durante e ed era erano essa essere essi "
     "fare fino fra gi\303\240 gli ha hai hanno ho i il in infatti inoltre invece io l la le lei "
     "lo loro lui ma mentre mi mio molti molto ne negli nei nel nell nella nelle nello nessun "
     "nessuna no noi non o ogni oltre ora ossia per perch\303\251 piuttosto pi\303\271 poi "
     "possibile possono prima proprio pure pu\303\262 qual qualche quale quali qualsiasi quando "
     "quanta quante quanti quanto quella quelle quelli quello questa queste questi questo quindi "
     "saranno sar\303\240 se secondo sempre senza si sia siano solo sono sopra sotto stata state "
     "stati stato su sua sui sul sull sulla sulle suo tale tali tanto tra tu tutta tutte tutti "
     "tutto un una uno vengono verr\303\240 vi viene \303\250",
     "chi come cosa dove perch\303\251 quale quali quando quanta quante quanti quanto"},
    {"aan achter af al alle alleen alles als andere anders bij bijvoorbeeld binnen boven daar "
     "daarna daarom dan dat de der des deze die dit door dus echter een eerst eigen elke en "
     "enkele er gebruikt geen genoeg haar had heb hebben hebt heeft hem het hier hierdoor hij hoe "
     "hoeveel hun iedere iets ik in indien is je jou jouw kan kunnen kunt maar maken me mee meer "
     "men met mij mijn moet moeten mogelijk na naar namelijk niet niets nieuwe nodig nog nooit nu "
     "of ofwel om omdat onder ons onze ook op opnieuw over per reeds samen sinds sommige steeds "
     "te tegen terwijl tijdens toch toen tot tussen u uit uw vaak van vanaf veel verder "
     "vervolgens via volgende voor voordat waar waarbij waarmee waarom waarop wanneer waren was "
     "wat we weer wel welk welke werd werden wie wij wilt worden wordt zal ze zelf zelfs zich zij "
     "zijn zo zoals zonder zou zullen zult",
     "hoe hoeveel waar waarom wanneer wat welk welke wie"},
    {"alle at av bare ble bli blir bruke bruker da de deg den denne der dere deres det dette "
     "disse du eller en enhver enn er et for fordi fra f\303\270rst gj\303\270r gj\303\270re ha "
     "han har hun hva hvem hver hvilke hvilken hvis hvor hvordan hvorfor hvorledes i ikke ingen "
     "inn jeg kan kunne man mange med meget mellom men mot m\303\245 m\303\245te noe noen "
     "n\303\245 n\303\245r og ogs\303\245 om opp oss over p\303\245 seg selv siden sin skal "
     "skulle slik som til under ut uten var ved vi vil v\303\245re v\303\246re v\303\246rt "
     "\303\245",
     "hva hvem hvilke hvilken hvilket hvor hvordan hvorfor"},
    {"a aby albo ale bardzo bez bo by by\304\207 by\305\202 by\305\202a by\305\202o by\305\202y "
     "b\304\231dzie b\304\231d\304\205 chce chyba ci ci\304\231 co czego czy dla dlaczego dlatego "
     "do dzi\304\231ki gdy gdzie go i ich ile im inne innych i\305\274 ja jak jaka jaki jakie "
     "jako je jednak jego jej jest je\305\233li je\305\274eli ju\305\274 ka\305\274dy kiedy kto "
     "kt\303\263ra kt\303\263re kt\303\263rego kt\303\263rej kt\303\263ry kt\303\263rych "
     "kt\303\263rym kt\303\263rzy lub ma maj\304\205 mi\304\231dzy mnie mog\304\205 mo\305\274 "
     "mo\305\274e mo\305\274na mu musi musisz my na nad nale\305\274y nas nawet nic nich nie nim "
     "ni\304\205 ni\305\274 np o od on ona oni oraz po pod podczas pomoc\304\205 poniewa\305\274 "
     "poprzez powinien przed przez przy r\303\263wnie\305\274 sam si\304\231 sobie swoje "
     "sw\303\263j s\304\205 ta tak tak\305\274e tam te tego tej ten to tu twoje ty tych tylko tym "
     "tymi u w we wi\304\231c wszystkich wszystkie wtedy w\305\233r\303\263d z za ze zostanie "
     "zosta\305\202 zosta\305\202a \305\274e \305\274eby",
     "czy dlaczego gdzie ile jak jaka jaki jakie kiedy kto kt\303\263ra kt\303\263re kt\303\263ry"},
    {"a abaixo acima ainda algum alguma algumas alguns al\303\251m antes ao aos apenas "
     "ap\303\263s aquela aquele aqui as assim at\303\251 cada caso com como contudo cujo da das "
     "de depois desde desta deste destes deve devem dever\303\241 disso do dois dos durante e ela "
     "elas ele eles em entre entretanto ent\303\243o era essa essas esse esses esta estar estas "
     "este estes est\303\241 est\303\243o eu faz fazer foi foram havia h\303\241 isso isto "
     "j\303\241 lhe l\303\241 maior mais mas me menos mesma mesmas mesmo meu minha muitas muito "
     "muitos na nas nem nenhum nesta neste no nos num numa nunca n\303\243o n\303\263s o onde os "
     "ou outra outras outro outros para pela pelas pelo pelos pode podem poder pois por porque "
     "por\303\251m posso pouco p\303\264de quais quaisquer qual qualquer quando quanta quantas "
     "quanto quantos que quem se sem sempre ser ser\303\241 ser\303\243o seu seus sido sim sobre "
     "sua suas s\303\243o s\303\263 tais tal tamb\303\251m tanto te tem ter toda todas todo todos "
     "tudo t\303\252m um uma usando vez voc\303\252 voc\303\252s \303\240 \303\251",
     "como onde quais qual quando quanta quantas quanto quantos quem"},
    {"a acea aceasta aceast\304\203 aceea acest acesta aceste acestea acestei acestor acestui "
     "acolo ai aici al ale alt alte altul alt\304\203 am apoi ar are astfel atunci au avea "
     "ave\310\233i a\310\231 ca care ce cea cei cel cele cine conform cu cum c\303\242nd "
     "c\303\242t c\303\242te c\303\242\310\233i c\304\203 c\304\203tre da dac\304\203 dar de "
     "deasupra deci dec\303\242t despre de\310\231i din doar dou\304\203 dumneavoastr\304\203 "
     "dup\304\203 ea ei el ele este eu fi fie fiecare foarte fost f\304\203r\304\203 i iar l la "
     "le li lor lui mai mi mult multe mul\310\233i ne nici ni\310\231te nu numai o or ori orice "
     "pe pentru poate pot prin pute\310\233i p\303\242n\304\203 s sa sale sau se su sub sunt "
     "s\304\203 te toate tot totu\310\231i to\310\233i trebuie tu un una unde unei unor unui va "
     "vor v\304\203 \303\256i \303\256l \303\256n \303\256nainte \303\256nc\304\203 \303\256ntre "
     "\303\256\310\231i \310\231i \310\233i",
     "care ce cine cum c\303\242nd c\303\242t c\303\242te c\303\242\310\233i unde"},
    {"\320\260 \320\261\320\265\320\267 \320\261\320\276\320\273\320\265\320\265 "
     "\320\261\321\203\320\264\320\265\321\202 \320\261\321\203\320\264\321\203\321\202 "
     "\320\261\321\213 \320\261\321\213\320\273 \320\261\321\213\320\273\320\260 "
     "\320\261\321\213\320\273\320\270 \320\261\321\213\320\273\320\276 "
     "\320\261\321\213\321\202\321\214 \320\262 \320\262\320\260\320\274 \320\262\320\260\321\201 "
     "\320\262\320\260\321\210 \320\262\320\260\321\210\320\260 \320\262\320\260\321\210\320\265 "
     "\320\262\320\260\321\210\320\265\320\263\320\276 \320\262\320\265\321\201\321\214 "
     "\320\262\320\276 \320\262\320\276\321\202 \320\262\321\201\320\265 "
     "\320\262\321\201\320\265\320\263\320\276 \320\262\321\201\320\265\321\205 \320\262\321\213 "
     "\320\263\320\264\320\265 \320\264\320\260 \320\264\320\260\320\266\320\265 "
     "\320\264\320\273\321\217 \320\264\320\276 \320\264\320\276\320\273\320\266\320\265\320\275 "
     "\320\264\320\276\320\273\320\266\320\275\320\260 "
     "\320\264\320\276\320\273\320\266\320\275\320\276 "
     "\320\264\320\276\320\273\320\266\320\275\321\213 \320\265\320\263\320\276 \320\265\320\265 "
     "\320\265\320\271 \320\265\320\274\321\203 \320\265\321\201\320\273\320\270 "
     "\320\265\321\201\321\202\321\214 \320\265\321\211\320\265 \320\265\321\216 \320\266\320\265 "
     "\320\267\320\260 \320\267\320\260\321\207\320\265\320\274 "
     "\320\267\320\264\320\265\321\201\321\214 \320\270 \320\270\320\267 \320\270\320\273\320\270 "
     "\320\270\320\274 \320\270\320\274\320\265\320\275\320\275\320\276 "
     "\320\270\321\201\320\277\320\276\320\273\321\214\320\267\320\276\320\262\320\260\321\202\321\214 "
     "\320\270\321\201\320\277\320\276\320\273\321\214\320\267\321\203\320\265\321\202\321\201\321\217 "
     "\320\270\321\205 \320\272 \320\272\320\260\320\272 \320\272\320\260\320\272\320\260\321\217 "
     "\320\272\320\260\320\272\320\270\320\265 \320\272\320\260\320\272\320\270\320\274 "
     "\320\272\320\260\320\272\320\276\320\271 \320\272\320\260\320\272\320\276\320\274 "
     "\320\272\320\260\320\272\321\203\321\216 \320\272\320\276 "
     "\320\272\320\276\320\263\320\264\320\260 "
     "\320\272\320\276\321\202\320\276\321\200\320\260\321\217 "
     "\320\272\320\276\321\202\320\276\321\200\320\276\320\263\320\276 "
     "\320\272\320\276\321\202\320\276\321\200\320\276\320\265 "
     "\320\272\320\276\321\202\320\276\321\200\320\276\320\271 "
     "\320\272\320\276\321\202\320\276\321\200\320\276\320\274 "
     "\320\272\320\276\321\202\320\276\321\200\321\203\321\216 "
     "\320\272\320\276\321\202\320\276\321\200\321\213\320\265 "
     "\320\272\320\276\321\202\320\276\321\200\321\213\320\271 "
     "\320\272\320\276\321\202\320\276\321\200\321\213\321\205 "
     "\320\272\321\200\320\276\320\274\320\265 \320\272\321\202\320\276 \320\273\320\270 "
     "\320\273\320\270\320\261\320\276 \320\273\320\270\321\210\321\214 "
     "\320\274\320\265\320\266\320\264\321\203 \320\274\320\265\320\275\321\217 "
     "\320\274\320\275\320\265 \320\274\320\275\320\276\320\263\320\270\320\265 "
     "\320\274\320\276\320\263\321\203\321\202 \320\274\320\276\320\266\320\265\321\202 "
     "\320\274\320\276\320\266\320\265\321\202\320\265 \320\274\320\276\320\266\320\275\320\276 "
     "\320\274\320\276\320\271 \320\274\321\213 \320\275\320\260 \320\275\320\260\320\264 "
     "\320\275\320\260\320\264\320\276 "
     "\320\275\320\260\320\277\321\200\320\270\320\274\320\265\321\200 \320\275\320\260\321\201 "
     "\320\275\320\260\321\210 \320\275\320\265 \320\275\320\265\320\263\320\276 "
     "\320\275\320\265\320\265 \320\275\320\265\320\271 "
     "\320\275\320\265\320\272\320\276\321\202\320\276\321\200\321\213\320\265 "
     "\320\275\320\265\320\273\321\214\320\267\321\217 \320\275\320\265\321\202 "
     "\320\275\320\265\321\221 \320\275\320\270 \320\275\320\276 "
     "\320\275\321\203\320\266\320\275\320\276 \320\276 \320\276\320\261 "
     "\320\276\320\264\320\270\320\275 \320\276\320\264\320\275\320\260\320\272\320\276 "
     "\320\276\320\275 \320\276\320\275\320\260 \320\276\320\275\320\270 \320\276\320\275\320\276 "
     "\320\276\321\202 \320\277\320\276 \320\277\320\276\320\264 "
     "\320\277\320\276\321\201\320\273\320\265 \320\277\320\276\321\202\320\276\320\274\321\203 "
     "\320\277\320\276\321\207\320\265\320\274\321\203 "
     "\320\277\320\276\321\215\321\202\320\276\320\274\321\203 \320\277\321\200\320\270 "
     "\320\277\321\200\320\276\321\201\321\202\320\276 \321\201 \321\201\320\260\320\274 "
     "\321\201\320\272\320\276\320\273\321\214\320\272\320\276 "
     "\321\201\320\273\320\265\320\264\321\203\320\265\321\202 "
     "\321\201\320\273\321\203\321\207\320\260\320\265 \321\201\320\275\320\276\320\262\320\260 "
     "\321\201\320\276 \321\202\320\260\320\272 \321\202\320\260\320\272\320\260\321\217 "
     "\321\202\320\260\320\272\320\266\320\265 \321\202\320\260\320\272\320\270\320\265 "
     "\321\202\320\260\320\272\320\276\320\263\320\276 \321\202\320\260\320\272\320\276\320\271 "
     "\321\202\320\260\320\274 \321\202\320\265\320\274 "
     "\321\202\320\265\320\277\320\265\321\200\321\214 \321\202\320\276 "
     "\321\202\320\276\320\263\320\264\320\260 \321\202\320\276\320\263\320\276 "
     "\321\202\320\276\320\266\320\265 \321\202\320\276\320\273\321\214\320\272\320\276 "
     "\321\202\320\276\320\274 \321\202\320\276\321\202 \321\202\321\200\320\270 \321\202\321\203 "
     "\321\202\321\203\321\202 \321\203 \321\203\320\266\320\265 \321\207\320\265\320\263\320\276 "
     "\321\207\320\265\320\271 \321\207\320\265\320\274 \321\207\320\265\321\200\320\265\320\267 "
     "\321\207\321\202\320\276 \321\207\321\202\320\276\320\261\321\213 \321\215\321\202\320\260 "
     "\321\215\321\202\320\270 \321\215\321\202\320\276 \321\215\321\202\320\276\320\263\320\276 "
     "\321\215\321\202\320\276\320\271 \321\215\321\202\320\276\320\274 "
     "\321\215\321\202\320\276\321\202 \321\215\321\202\321\203 \321\217",
     "\320\263\320\264\320\265 \320\267\320\260\321\207\320\265\320\274 \320\272\320\260\320\272 "
     "\320\272\320\260\320\272\320\260\321\217 \320\272\320\260\320\272\320\270\320\265 "
     "\320\272\320\260\320\272\320\276\320\265 \320\272\320\260\320\272\320\276\320\271 "
     "\320\272\320\276\320\263\320\264\320\260 \320\272\321\202\320\276 "
     "\320\272\321\203\320\264\320\260 \320\276\321\202\320\272\321\203\320\264\320\260 "
     "\320\277\320\276\321\207\320\265\320\274\321\203 "
     "\321\201\320\272\320\276\320\273\321\214\320\272\320\276 \321\207\320\265\320\271 "
     "\321\207\321\202\320\276"},
    {"alla att av bara bland blev bli blir de dem den denna deras dess det detta dig din dina "
     "ditt du d\303\244r d\303\244rf\303\266r d\303\245 efter eftersom ej eller en er ett finns "
     "fr\303\245n f\303\245 f\303\245r f\303\266r genom g\303\266r g\303\266ra ha han hans har "
     "hennes hon hos hur h\303\266r i icke in inga ingen inom inte jag kan kommer kunde kunna man "
     "med men mer mig min mot mycket m\303\245n m\303\245nga m\303\245ste ni nu n\303\244r "
     "n\303\245gon n\303\245got n\303\245gra och om oss p\303\245 sedan sig sin sj\303\244lv ska "
     "skall skulle som s\303\245 s\303\245dan till under upp ut utan vad var vara varf\303\266r "
     "vem vi vid vilka vilken vilket v\303\245ra v\303\245rt \303\244r \303\266ver",
     "hur vad varf\303\266r vem vilka vilken vilket"},
    {"acaba ama ancak asl\304\261nda ayn\304\261 az baz\304\261 belki ben beni benim bir biri "
     "birka\303\247 biz bu buna bunda bundan bunu bunun b\303\266yle b\303\274t\303\274n da daha "
     "de defa de\304\237il diye eder edilir en etmek gerek gibi g\303\266re hangi hangisi hem hep "
     "hepsi her hi\303\247 ile ilgili ise i\303\247in i\303\247inde i\305\237te kadar kendi "
     "kendisi kez ki kim mi mu m\303\274 m\304\261 nas\304\261l ne neden nedir neler nerede niye "
     "ni\303\247in o olan olarak oldu oldu\304\237u olmas\304\261 olup olur ona ondan onlar onu "
     "onun sadece sanki siz sizin sonra taraf\304\261ndan t\303\274m var vard\304\261r ve veya ya "
     "yaln\304\261zca yani yok yoksa zaman \303\247ok \303\247\303\274nk\303\274 \303\266nce "
     "\303\274zere \303\274zerinde \305\237ey \305\237u",
     "hangi ka\303\247 kim nas\304\261l neden nerede niye ni\303\247in"},
};

enum { LANGUAGES = 18, COMMON_SLOTS = 4096, COMMON_MOST = 24 };

/* The common words of all languages, each after a byte with its size. */
static const uint8_t common_words[] = {
    3, 97, 97, 110, 2, 97, 98, 6, 97, 98, 97, 105, 120, 111, 5, 97, 98, 98, 105, 97, 7, 97, 98, 98,
    105, 97, 109, 111, 4, 97, 98, 101, 114, 5, 97, 98, 111, 117, 116, 3, 97, 98, 121, 5, 97, 99,
    97, 98, 97, 4, 97, 99, 101, 97, 7, 97, 99, 101, 97, 115, 116, 97, 8, 97, 99, 101, 97, 115, 116,
    196, 131, 5, 97, 99, 101, 101, 97, 5, 97, 99, 101, 115, 116, 6, 97, 99, 101, 115, 116, 97, 6,
    97, 99, 101, 115, 116, 101, 7, 97, 99, 101, 115, 116, 101, 97, 7, 97, 99, 101, 115, 116, 101,
    105, 7, 97, 99, 101, 115, 116, 111, 114, 7, 97, 99, 101, 115, 116, 117, 105, 6, 97, 99, 104,
    116, 101, 114, 5, 97, 99, 105, 109, 97, 5, 97, 99, 111, 108, 111, 2, 97, 100, 7, 97, 100, 101,
    109, 195, 161, 115, 2, 97, 102, 4, 97, 102, 105, 110, 5, 97, 102, 116, 101, 114, 4, 97, 104,
    111, 108, 5, 97, 104, 111, 114, 97, 2, 97, 105, 4, 97, 105, 99, 105, 4, 97, 105, 110, 97, 5,
    97, 105, 110, 100, 97, 5, 97, 105, 110, 115, 105, 3, 97, 107, 105, 5, 97, 107, 107, 111, 114,
    2, 97, 108, 5, 97, 108, 97, 116, 116, 4, 97, 108, 98, 111, 6, 97, 108, 99, 117, 110, 101, 6,
    97, 108, 99, 117, 110, 105, 3, 97, 108, 101, 4, 97, 108, 103, 111, 5, 97, 108, 103, 117, 109,
    6, 97, 108, 103, 117, 109, 97, 7, 97, 108, 103, 117, 109, 97, 115, 6, 97, 108, 103, 117, 110,
    97, 7, 97, 108, 103, 117, 110, 97, 115, 6, 97, 108, 103, 117, 110, 111, 7, 97, 108, 103, 117,
    110, 111, 115, 6, 97, 108, 103, 117, 110, 115, 6, 97, 108, 103, 195, 186, 110, 3, 97, 108, 108,
    4, 97, 108, 108, 97, 4, 97, 108, 108, 101, 6, 97, 108, 108, 101, 101, 110, 5, 97, 108, 108,
    101, 109, 5, 97, 108, 108, 101, 110, 5, 97, 108, 108, 101, 114, 5, 97, 108, 108, 101, 115, 4,
    97, 108, 108, 111, 5, 97, 108, 111, 114, 115, 3, 97, 108, 115, 4, 97, 108, 115, 111, 3, 97,
    108, 116, 4, 97, 108, 116, 101, 5, 97, 108, 116, 114, 97, 5, 97, 108, 116, 114, 101, 5, 97,
    108, 116, 114, 105, 5, 97, 108, 116, 114, 111, 5, 97, 108, 116, 117, 108, 5, 97, 108, 116, 196,
    131, 5, 97, 108, 195, 169, 109, 2, 97, 109, 3, 97, 109, 97, 5, 97, 109, 101, 108, 121, 7, 97,
    109, 101, 108, 121, 101, 107, 3, 97, 109, 105, 6, 97, 109, 105, 107, 111, 114, 5, 97, 109, 195,
    173, 103, 2, 97, 110, 5, 97, 110, 99, 97, 107, 5, 97, 110, 99, 104, 101, 6, 97, 110, 99, 111,
    114, 97, 3, 97, 110, 100, 6, 97, 110, 100, 101, 114, 101, 7, 97, 110, 100, 101, 114, 101, 110,
    6, 97, 110, 100, 101, 114, 115, 5, 97, 110, 100, 101, 116, 3, 97, 110, 105, 5, 97, 110, 110,
    97, 107, 3, 97, 110, 111, 5, 97, 110, 116, 101, 115, 3, 97, 110, 121, 2, 97, 111, 3, 97, 111,
    115, 6, 97, 112, 101, 110, 97, 115, 4, 97, 112, 111, 105, 6, 97, 112, 112, 101, 110, 97, 6, 97,
    112, 114, 195, 168, 115, 5, 97, 112, 195, 179, 115, 6, 97, 113, 117, 101, 108, 97, 6, 97, 113,
    117, 101, 108, 101, 4, 97, 113, 117, 105, 5, 97, 113, 117, 195, 173, 2, 97, 114, 3, 97, 114,
    101, 4, 97, 114, 101, 110, 4, 97, 114, 114, 97, 2, 97, 115, 8, 97, 115, 108, 196, 177, 110,
    100, 97, 5, 97, 115, 115, 105, 109, 6, 97, 115, 116, 102, 101, 108, 4, 97, 115, 195, 173, 2,
    97, 116, 3, 97, 116, 116, 6, 97, 116, 117, 110, 99, 105, 4, 97, 116, 195, 169, 2, 97, 117, 4,
    97, 117, 99, 104, 5, 97, 117, 99, 117, 110, 6, 97, 117, 99, 117, 110, 101, 3, 97, 117, 102, 3,
    97, 117, 115, 5, 97, 117, 115, 115, 105, 3, 97, 117, 120, 2, 97, 118, 5, 97, 118, 97, 110, 116,
    4, 97, 118, 101, 97, 4, 97, 118, 101, 99, 5, 97, 118, 101, 114, 101, 4, 97, 118, 101, 122, 6,
    97, 118, 101, 200, 155, 105, 5, 97, 118, 111, 105, 114, 5, 97, 121, 110, 196, 177, 2, 97, 122,
    4, 97, 122, 111, 107, 7, 97, 122, 111, 110, 98, 97, 110, 3, 97, 122, 116, 6, 97, 122, 195, 169,
    114, 116, 4, 97, 195, 186, 110, 3, 97, 200, 153, 4, 98, 97, 114, 97, 6, 98, 97, 114, 100, 122,
    111, 4, 98, 97, 114, 101, 5, 98, 97, 122, 196, 177, 2, 98, 101, 7, 98, 101, 99, 97, 117, 115,
    101, 4, 98, 101, 101, 110, 6, 98, 101, 102, 111, 114, 101, 3, 98, 101, 105, 4, 98, 101, 105,
    109, 5, 98, 101, 105, 110, 103, 5, 98, 101, 108, 107, 105, 3, 98, 101, 110, 4, 98, 101, 110,
    105, 5, 98, 101, 110, 105, 109, 5, 98, 101, 110, 110, 101, 7, 98, 101, 114, 101, 105, 116, 115,
    5, 98, 101, 118, 111, 114, 3, 98, 101, 122, 4, 98, 105, 101, 110, 3, 98, 105, 106, 12, 98, 105,
    106, 118, 111, 111, 114, 98, 101, 101, 108, 100, 3, 98, 105, 110, 6, 98, 105, 110, 110, 101,
    110, 3, 98, 105, 114, 4, 98, 105, 114, 105, 7, 98, 105, 114, 107, 97, 195, 167, 3, 98, 105,
    115, 7, 98, 105, 115, 111, 103, 110, 111, 4, 98, 105, 115, 116, 3, 98, 105, 122, 5, 98, 108,
    97, 110, 100, 3, 98, 108, 101, 4, 98, 108, 101, 118, 3, 98, 108, 105, 4, 98, 108, 105, 114, 5,
    98, 108, 105, 118, 101, 6, 98, 108, 105, 118, 101, 114, 2, 98, 111, 4, 98, 111, 116, 104, 5,
    98, 111, 118, 101, 110, 4, 98, 114, 117, 103, 5, 98, 114, 117, 103, 101, 6, 98, 114, 117, 103,
    101, 115, 5, 98, 114, 117, 107, 101, 6, 98, 114, 117, 107, 101, 114, 2, 98, 117, 4, 98, 117,
    100, 101, 5, 98, 117, 100, 111, 117, 4, 98, 117, 110, 97, 5, 98, 117, 110, 100, 97, 6, 98, 117,
    110, 100, 97, 110, 4, 98, 117, 110, 117, 5, 98, 117, 110, 117, 110, 3, 98, 117, 116, 2, 98,
    121, 3, 98, 121, 108, 4, 98, 121, 108, 97, 4, 98, 121, 108, 111, 4, 98, 121, 108, 121, 4, 98,
    121, 196, 135, 4, 98, 121, 197, 130, 5, 98, 121, 197, 130, 97, 5, 98, 121, 197, 130, 111, 5,
    98, 121, 197, 130, 121, 3, 98, 122, 119, 8, 98, 195, 161, 114, 109, 101, 108, 121, 6, 98, 195,
    182, 121, 108, 101, 7, 98, 195, 188, 116, 195, 188, 110, 4, 98, 195, 189, 116, 7, 98, 196, 153,
    100, 122, 105, 101, 6, 98, 196, 153, 100, 196, 133, 2, 99, 97, 4, 99, 97, 100, 97, 3, 99, 97,
    110, 3, 99, 97, 114, 4, 99, 97, 114, 101, 4, 99, 97, 115, 105, 4, 99, 97, 115, 111, 2, 99, 101,
    3, 99, 101, 97, 3, 99, 101, 105, 3, 99, 101, 108, 4, 99, 101, 108, 97, 4, 99, 101, 108, 101, 3,
    99, 101, 115, 3, 99, 101, 116, 5, 99, 101, 116, 116, 101, 6, 99, 104, 97, 113, 117, 101, 4, 99,
    104, 99, 101, 6, 99, 104, 99, 101, 116, 101, 3, 99, 104, 101, 3, 99, 104, 105, 5, 99, 104, 121,
    98, 97, 2, 99, 105, 7, 99, 105, 97, 115, 99, 117, 110, 4, 99, 105, 110, 101, 4, 99, 105, 195,
    178, 4, 99, 105, 196, 153, 2, 99, 111, 3, 99, 111, 105, 3, 99, 111, 108, 3, 99, 111, 109, 7,
    99, 111, 109, 98, 105, 101, 110, 4, 99, 111, 109, 101, 5, 99, 111, 109, 109, 101, 7, 99, 111,
    109, 109, 101, 110, 116, 4, 99, 111, 109, 111, 8, 99, 111, 109, 117, 110, 113, 117, 101, 3, 99,
    111, 110, 7, 99, 111, 110, 102, 111, 114, 109, 6, 99, 111, 110, 116, 114, 111, 7, 99, 111, 110,
    116, 117, 100, 111, 4, 99, 111, 115, 97, 5, 99, 111, 115, 195, 172, 5, 99, 111, 117, 108, 100,
    4, 99, 115, 97, 107, 2, 99, 117, 4, 99, 117, 97, 108, 9, 99, 117, 97, 108, 113, 117, 105, 101,
    114, 6, 99, 117, 97, 110, 100, 111, 6, 99, 117, 97, 110, 116, 111, 3, 99, 117, 105, 4, 99, 117,
    106, 111, 3, 99, 117, 109, 4, 99, 117, 121, 97, 5, 99, 117, 195, 161, 108, 7, 99, 117, 195,
    161, 108, 101, 115, 7, 99, 117, 195, 161, 110, 100, 111, 7, 99, 117, 195, 161, 110, 116, 97, 8,
    99, 117, 195, 161, 110, 116, 97, 115, 7, 99, 117, 195, 161, 110, 116, 111, 8, 99, 117, 195,
    161, 110, 116, 111, 115, 5, 99, 122, 101, 103, 111, 3, 99, 122, 121, 5, 99, 195, 162, 110, 100,
    4, 99, 195, 162, 116, 5, 99, 195, 162, 116, 101, 6, 99, 195, 162, 200, 155, 105, 5, 99, 195,
    179, 109, 111, 3, 99, 196, 131, 6, 99, 196, 131, 116, 114, 101, 2, 100, 97, 4, 100, 97, 97,
    114, 6, 100, 97, 97, 114, 110, 97, 6, 100, 97, 97, 114, 111, 109, 5, 100, 97, 99, 196, 131, 7,
    100, 97, 100, 117, 114, 99, 104, 6, 100, 97, 102, 195, 188, 114, 5, 100, 97, 103, 108, 105, 4,
    100, 97, 104, 97, 5, 100, 97, 104, 101, 114, 3, 100, 97, 105, 3, 100, 97, 108, 4, 100, 97, 108,
    108, 5, 100, 97, 108, 108, 97, 5, 100, 97, 108, 108, 101, 5, 100, 97, 108, 108, 111, 7, 100,
    97, 108, 197, 161, 195, 173, 9, 100, 97, 108, 197, 161, 195, 173, 99, 104, 5, 100, 97, 109,
    105, 116, 3, 100, 97, 110, 4, 100, 97, 110, 110, 4, 100, 97, 110, 115, 3, 100, 97, 114, 4, 100,
    97, 114, 102, 3, 100, 97, 115, 4, 100, 97, 115, 115, 3, 100, 97, 116, 5, 100, 97, 118, 111,
    110, 4, 100, 97, 122, 117, 2, 100, 101, 8, 100, 101, 97, 115, 117, 112, 114, 97, 4, 100, 101,
    98, 101, 5, 100, 101, 98, 101, 110, 4, 100, 101, 99, 105, 6, 100, 101, 99, 195, 162, 116, 4,
    100, 101, 102, 97, 3, 100, 101, 103, 5, 100, 101, 103, 108, 105, 3, 100, 101, 105, 3, 100, 101,
    108, 4, 100, 101, 108, 108, 5, 100, 101, 108, 108, 97, 5, 100, 101, 108, 108, 101, 5, 100, 101,
    108, 108, 111, 3, 100, 101, 109, 3, 100, 101, 110, 4, 100, 101, 110, 110, 5, 100, 101, 110,
    110, 97, 5, 100, 101, 110, 110, 101, 4, 100, 101, 110, 115, 6, 100, 101, 110, 116, 114, 111, 6,
    100, 101, 112, 111, 105, 115, 6, 100, 101, 112, 117, 105, 115, 3, 100, 101, 114, 5, 100, 101,
    114, 97, 115, 4, 100, 101, 114, 101, 5, 100, 101, 114, 101, 110, 5, 100, 101, 114, 101, 114, 5,
    100, 101, 114, 101, 115, 3, 100, 101, 115, 5, 100, 101, 115, 100, 101, 6, 100, 101, 115, 112,
    114, 101, 8, 100, 101, 115, 112, 117, 195, 169, 115, 4, 100, 101, 115, 115, 6, 100, 101, 115,
    115, 101, 110, 5, 100, 101, 115, 116, 97, 5, 100, 101, 115, 116, 101, 6, 100, 101, 115, 116,
    101, 115, 3, 100, 101, 116, 4, 100, 101, 116, 115, 5, 100, 101, 116, 116, 97, 5, 100, 101, 116,
    116, 101, 4, 100, 101, 117, 120, 4, 100, 101, 118, 101, 5, 100, 101, 118, 101, 109, 7, 100,
    101, 118, 101, 114, 195, 161, 6, 100, 101, 118, 111, 110, 111, 4, 100, 101, 122, 101, 6, 100,
    101, 196, 159, 105, 108, 5, 100, 101, 200, 153, 105, 2, 100, 105, 5, 100, 105, 99, 104, 97, 5,
    100, 105, 99, 104, 111, 3, 100, 105, 100, 4, 100, 105, 100, 110, 3, 100, 105, 101, 4, 100, 105,
    101, 115, 5, 100, 105, 101, 115, 101, 6, 100, 105, 101, 115, 101, 109, 6, 100, 105, 101, 115,
    101, 110, 6, 100, 105, 101, 115, 101, 114, 6, 100, 105, 101, 115, 101, 115, 3, 100, 105, 103,
    3, 100, 105, 110, 4, 100, 105, 110, 97, 5, 100, 105, 115, 115, 101, 5, 100, 105, 115, 115, 111,
    3, 100, 105, 116, 4, 100, 105, 116, 116, 4, 100, 105, 121, 101, 3, 100, 108, 97, 8, 100, 108,
    97, 99, 122, 101, 103, 111, 7, 100, 108, 97, 116, 101, 103, 111, 2, 100, 111, 4, 100, 111, 97,
    114, 4, 100, 111, 99, 104, 4, 100, 111, 101, 115, 5, 100, 111, 101, 115, 110, 3, 100, 111, 103,
    5, 100, 111, 105, 110, 103, 4, 100, 111, 105, 115, 4, 100, 111, 105, 116, 3, 100, 111, 110, 4,
    100, 111, 110, 99, 5, 100, 111, 110, 100, 101, 4, 100, 111, 110, 116, 4, 100, 111, 111, 114, 4,
    100, 111, 112, 111, 4, 100, 111, 114, 116, 3, 100, 111, 115, 5, 100, 111, 117, 196, 131, 4,
    100, 111, 118, 101, 2, 100, 117, 14, 100, 117, 109, 110, 101, 97, 118, 111, 97, 115, 116, 114,
    196, 131, 6, 100, 117, 110, 113, 117, 101, 5, 100, 117, 112, 196, 131, 7, 100, 117, 114, 97,
    110, 116, 101, 5, 100, 117, 114, 99, 104, 3, 100, 117, 115, 7, 100, 122, 105, 196, 153, 107,
    105, 4, 100, 195, 164, 114, 8, 100, 195, 164, 114, 102, 195, 182, 114, 3, 100, 195, 165, 6,
    100, 195, 169, 106, 195, 160, 6, 100, 195, 179, 110, 100, 101, 2, 101, 97, 4, 101, 97, 99, 104,
    6, 101, 99, 104, 116, 101, 114, 2, 101, 100, 4, 101, 100, 101, 114, 6, 101, 100, 105, 108, 105,
    114, 3, 101, 101, 110, 5, 101, 101, 114, 115, 116, 5, 101, 102, 116, 101, 114, 8, 101, 102,
    116, 101, 114, 115, 111, 109, 2, 101, 103, 3, 101, 103, 121, 5, 101, 103, 121, 101, 115, 5,
    101, 104, 104, 101, 122, 2, 101, 105, 5, 101, 105, 103, 101, 110, 7, 101, 105, 103, 101, 110,
    101, 110, 5, 101, 105, 107, 195, 164, 3, 101, 105, 110, 4, 101, 105, 110, 101, 5, 101, 105,
    110, 101, 109, 5, 101, 105, 110, 101, 110, 5, 101, 105, 110, 101, 114, 5, 101, 105, 110, 101,
    115, 6, 101, 105, 110, 105, 103, 101, 6, 101, 105, 118, 195, 164, 116, 2, 101, 106, 2, 101,
    108, 3, 101, 108, 97, 4, 101, 108, 97, 115, 3, 101, 108, 101, 4, 101, 108, 101, 115, 4, 101,
    108, 107, 101, 4, 101, 108, 108, 97, 5, 101, 108, 108, 97, 115, 4, 101, 108, 108, 101, 5, 101,
    108, 108, 101, 114, 5, 101, 108, 108, 101, 115, 5, 101, 108, 108, 111, 115, 9, 101, 108, 197,
    145, 115, 122, 195, 182, 114, 6, 101, 108, 197, 145, 116, 116, 2, 101, 109, 7, 101, 109, 98,
    97, 114, 103, 111, 2, 101, 110, 6, 101, 110, 99, 111, 114, 101, 3, 101, 110, 100, 6, 101, 110,
    104, 118, 101, 114, 6, 101, 110, 107, 101, 108, 101, 3, 101, 110, 110, 5, 101, 110, 110, 101,
    107, 5, 101, 110, 110, 101, 110, 8, 101, 110, 116, 111, 110, 99, 101, 115, 5, 101, 110, 116,
    114, 101, 10, 101, 110, 116, 114, 101, 116, 97, 110, 116, 111, 6, 101, 110, 116, 195, 163, 111,
    2, 101, 114, 3, 101, 114, 97, 5, 101, 114, 97, 110, 111, 4, 101, 114, 114, 101, 2, 101, 115, 3,
    101, 115, 97, 4, 101, 115, 97, 115, 3, 101, 115, 101, 7, 101, 115, 101, 116, 195, 169, 110, 3,
    101, 115, 111, 4, 101, 115, 115, 97, 5, 101, 115, 115, 97, 115, 4, 101, 115, 115, 101, 6, 101,
    115, 115, 101, 114, 101, 5, 101, 115, 115, 101, 115, 4, 101, 115, 115, 105, 3, 101, 115, 116,
    4, 101, 115, 116, 97, 5, 101, 115, 116, 97, 114, 5, 101, 115, 116, 97, 115, 4, 101, 115, 116,
    101, 5, 101, 115, 116, 101, 115, 4, 101, 115, 116, 111, 5, 101, 115, 116, 111, 115, 5, 101,
    115, 116, 195, 161, 6, 101, 115, 116, 195, 161, 110, 6, 101, 115, 116, 195, 163, 111, 2, 101,
    116, 5, 101, 116, 109, 101, 107, 3, 101, 116, 116, 5, 101, 116, 116, 195, 164, 4, 101, 116,
    119, 97, 5, 101, 116, 119, 97, 115, 2, 101, 117, 2, 101, 122, 4, 101, 122, 101, 107, 4, 101,
    122, 101, 110, 3, 101, 122, 116, 6, 101, 122, 195, 169, 114, 116, 4, 102, 97, 105, 116, 5, 102,
    97, 108, 108, 115, 4, 102, 97, 114, 101, 4, 102, 97, 117, 116, 3, 102, 97, 122, 5, 102, 97,
    122, 101, 114, 3, 102, 101, 108, 6, 102, 101, 114, 110, 101, 114, 2, 102, 105, 3, 102, 105,
    101, 7, 102, 105, 101, 99, 97, 114, 101, 6, 102, 105, 110, 100, 101, 115, 5, 102, 105, 110,
    110, 115, 4, 102, 105, 110, 111, 6, 102, 111, 97, 114, 116, 101, 3, 102, 111, 105, 4, 102, 111,
    105, 115, 8, 102, 111, 108, 103, 101, 110, 100, 101, 9, 102, 111, 108, 103, 101, 110, 100, 101,
    110, 3, 102, 111, 114, 5, 102, 111, 114, 97, 109, 5, 102, 111, 114, 100, 105, 4, 102, 111, 115,
    116, 3, 102, 114, 97, 4, 102, 114, 111, 109, 5, 102, 114, 195, 165, 110, 3, 102, 117, 101, 6,
    102, 117, 101, 114, 111, 110, 3, 102, 195, 165, 4, 102, 195, 165, 114, 4, 102, 195, 182, 114,
    6, 102, 195, 184, 114, 115, 116, 4, 102, 195, 188, 114, 6, 102, 196, 131, 114, 196, 131, 3,
    103, 100, 121, 5, 103, 100, 122, 105, 101, 8, 103, 101, 98, 114, 117, 105, 107, 116, 4, 103,
    101, 101, 110, 5, 103, 101, 103, 101, 110, 6, 103, 101, 110, 111, 101, 103, 5, 103, 101, 110,
    111, 109, 5, 103, 101, 114, 101, 107, 4, 103, 105, 98, 105, 4, 103, 105, 98, 116, 4, 103, 105,
    118, 101, 4, 103, 105, 195, 160, 5, 103, 106, 195, 184, 114, 6, 103, 106, 195, 184, 114, 101,
    3, 103, 108, 105, 2, 103, 111, 4, 103, 195, 182, 114, 5, 103, 195, 182, 114, 97, 5, 103, 195,
    182, 114, 101, 4, 103, 195, 184, 114, 2, 104, 97, 4, 104, 97, 97, 114, 5, 104, 97, 98, 101,
    110, 6, 104, 97, 98, 195, 173, 97, 4, 104, 97, 99, 101, 5, 104, 97, 99, 101, 114, 5, 104, 97,
    99, 105, 97, 3, 104, 97, 100, 3, 104, 97, 105, 3, 104, 97, 109, 3, 104, 97, 110, 5, 104, 97,
    110, 101, 109, 5, 104, 97, 110, 103, 105, 7, 104, 97, 110, 103, 105, 115, 105, 5, 104, 97, 110,
    110, 111, 4, 104, 97, 110, 115, 3, 104, 97, 114, 3, 104, 97, 115, 5, 104, 97, 115, 116, 97, 3,
    104, 97, 116, 5, 104, 97, 116, 116, 101, 5, 104, 97, 118, 100, 101, 4, 104, 97, 118, 101, 5,
    104, 97, 118, 105, 97, 6, 104, 97, 118, 105, 110, 103, 3, 104, 97, 121, 4, 104, 97, 121, 97, 2,
    104, 101, 3, 104, 101, 98, 6, 104, 101, 98, 98, 101, 110, 4, 104, 101, 98, 116, 5, 104, 101,
    101, 102, 116, 3, 104, 101, 109, 6, 104, 101, 110, 100, 101, 115, 6, 104, 101, 110, 110, 101,
    115, 3, 104, 101, 112, 5, 104, 101, 112, 115, 105, 3, 104, 101, 114, 4, 104, 101, 114, 101, 3,
    104, 101, 116, 4, 104, 105, 101, 114, 7, 104, 105, 101, 114, 98, 101, 105, 8, 104, 105, 101,
    114, 100, 111, 111, 114, 3, 104, 105, 106, 3, 104, 105, 115, 4, 104, 105, 195, 167, 2, 104,
    111, 3, 104, 111, 101, 7, 104, 111, 101, 118, 101, 101, 108, 4, 104, 111, 103, 121, 6, 104,
    111, 103, 121, 97, 110, 3, 104, 111, 108, 3, 104, 111, 110, 3, 104, 111, 115, 3, 104, 111, 119,
    3, 104, 117, 110, 3, 104, 117, 114, 3, 104, 118, 97, 4, 104, 118, 97, 100, 4, 104, 118, 101,
    109, 4, 104, 118, 101, 114, 6, 104, 118, 105, 108, 107, 101, 7, 104, 118, 105, 108, 107, 101,
    110, 7, 104, 118, 105, 108, 107, 101, 116, 4, 104, 118, 105, 115, 4, 104, 118, 111, 114, 7,
    104, 118, 111, 114, 100, 97, 110, 7, 104, 118, 111, 114, 102, 111, 114, 9, 104, 118, 111, 114,
    108, 101, 100, 101, 115, 8, 104, 118, 111, 114, 110, 195, 165, 114, 3, 104, 195, 161, 5, 104,
    195, 161, 110, 121, 4, 104, 195, 164, 110, 6, 104, 195, 164, 110, 101, 110, 4, 104, 195, 182,
    114, 3, 105, 97, 114, 3, 105, 99, 104, 3, 105, 99, 105, 4, 105, 99, 107, 101, 6, 105, 101, 100,
    101, 114, 101, 4, 105, 101, 116, 115, 2, 105, 102, 3, 105, 104, 114, 4, 105, 104, 114, 101, 5,
    105, 104, 114, 101, 109, 5, 105, 104, 114, 101, 110, 5, 105, 104, 114, 101, 114, 2, 105, 107,
    4, 105, 107, 107, 101, 2, 105, 108, 3, 105, 108, 101, 6, 105, 108, 103, 105, 108, 105, 7, 105,
    108, 108, 101, 116, 118, 101, 5, 105, 108, 109, 97, 110, 3, 105, 108, 115, 2, 105, 109, 5, 105,
    109, 109, 101, 114, 2, 105, 110, 7, 105, 110, 99, 108, 117, 115, 111, 3, 105, 110, 100, 5, 105,
    110, 100, 101, 109, 6, 105, 110, 100, 105, 101, 110, 7, 105, 110, 102, 97, 116, 116, 105, 4,
    105, 110, 103, 97, 5, 105, 110, 103, 101, 110, 3, 105, 110, 110, 4, 105, 110, 110, 101, 9, 105,
    110, 110, 101, 114, 104, 97, 108, 98, 6, 105, 110, 110, 121, 99, 104, 7, 105, 110, 111, 108,
    116, 114, 101, 4, 105, 110, 111, 109, 3, 105, 110, 115, 4, 105, 110, 116, 101, 4, 105, 110,
    116, 111, 6, 105, 110, 118, 101, 99, 101, 2, 105, 111, 2, 105, 115, 3, 105, 115, 101, 6, 105,
    115, 109, 195, 169, 116, 3, 105, 115, 110, 4, 105, 115, 115, 111, 3, 105, 115, 116, 4, 105,
    115, 116, 111, 2, 105, 116, 3, 105, 116, 115, 3, 105, 116, 116, 5, 105, 195, 167, 105, 110, 7,
    105, 195, 167, 105, 110, 100, 101, 5, 105, 197, 159, 116, 101, 3, 105, 197, 188, 2, 106, 97, 3,
    106, 97, 103, 3, 106, 97, 107, 4, 106, 97, 107, 97, 4, 106, 97, 107, 105, 5, 106, 97, 107, 105,
    101, 4, 106, 97, 107, 111, 2, 106, 101, 4, 106, 101, 100, 101, 5, 106, 101, 100, 101, 109, 5,
    106, 101, 100, 101, 110, 5, 106, 101, 100, 101, 114, 5, 106, 101, 100, 101, 115, 6, 106, 101,
    100, 110, 97, 107, 6, 106, 101, 100, 111, 99, 104, 3, 106, 101, 103, 4, 106, 101, 103, 111, 4,
    106, 101, 104, 111, 3, 106, 101, 106, 6, 106, 101, 106, 105, 99, 104, 5, 106, 101, 106, 195,
    173, 7, 106, 101, 106, 195, 173, 104, 111, 8, 106, 101, 108, 101, 110, 108, 101, 103, 3, 106,
    101, 110, 3, 106, 101, 114, 5, 106, 101, 114, 101, 115, 4, 106, 101, 115, 116, 9, 106, 101,
    115, 116, 108, 105, 197, 190, 101, 5, 106, 101, 116, 122, 116, 6, 106, 101, 197, 155, 108, 105,
    7, 106, 101, 197, 161, 116, 196, 155, 7, 106, 101, 197, 188, 101, 108, 105, 4, 106, 105, 197,
    190, 5, 106, 111, 105, 116, 97, 4, 106, 111, 107, 97, 7, 106, 111, 108, 108, 111, 105, 110, 5,
    106, 111, 110, 107, 97, 3, 106, 111, 115, 4, 106, 111, 116, 97, 5, 106, 111, 116, 107, 97, 3,
    106, 111, 117, 4, 106, 111, 117, 119, 4, 106, 115, 101, 109, 4, 106, 115, 109, 101, 4, 106,
    115, 111, 117, 4, 106, 117, 115, 116, 4, 106, 117, 197, 188, 3, 106, 195, 161, 8, 106, 195,
    164, 108, 107, 101, 101, 110, 3, 106, 195, 173, 5, 107, 97, 100, 97, 114, 6, 107, 97, 105, 107,
    107, 105, 3, 107, 97, 110, 4, 107, 97, 110, 110, 6, 107, 97, 110, 115, 115, 97, 6, 107, 97,
    197, 188, 100, 121, 7, 107, 97, 197, 190, 100, 195, 169, 7, 107, 97, 197, 190, 100, 195, 189,
    3, 107, 100, 101, 3, 107, 100, 111, 3, 107, 100, 121, 5, 107, 100, 121, 197, 190, 2, 107, 101,
    4, 107, 101, 105, 110, 5, 107, 101, 105, 110, 101, 4, 107, 101, 108, 108, 5, 107, 101, 110,
    100, 105, 7, 107, 101, 110, 100, 105, 115, 105, 3, 107, 101, 122, 2, 107, 105, 5, 107, 105,
    101, 100, 121, 3, 107, 105, 109, 5, 107, 111, 108, 105, 107, 6, 107, 111, 109, 109, 101, 114,
    6, 107, 116, 101, 114, 111, 117, 6, 107, 116, 101, 114, 195, 161, 6, 107, 116, 101, 114, 195,
    169, 6, 107, 116, 101, 114, 195, 189, 8, 107, 116, 101, 114, 195, 189, 99, 104, 3, 107, 116,
    111, 6, 107, 116, 195, 179, 114, 97, 6, 107, 116, 195, 179, 114, 101, 8, 107, 116, 195, 179,
    114, 101, 103, 111, 7, 107, 116, 195, 179, 114, 101, 106, 6, 107, 116, 195, 179, 114, 121, 8,
    107, 116, 195, 179, 114, 121, 99, 104, 7, 107, 116, 195, 179, 114, 121, 109, 7, 107, 116, 195,
    179, 114, 122, 121, 4, 107, 117, 105, 110, 4, 107, 117, 107, 97, 3, 107, 117, 110, 5, 107, 117,
    110, 100, 101, 5, 107, 117, 110, 110, 97, 5, 107, 117, 110, 110, 101, 6, 107, 117, 110, 110,
    101, 110, 6, 107, 117, 110, 110, 101, 115, 4, 107, 117, 110, 116, 5, 107, 117, 116, 101, 110,
    7, 107, 195, 173, 118, 195, 188, 108, 7, 107, 195, 182, 110, 110, 101, 110, 7, 107, 195, 182,
    110, 110, 116, 101, 8, 107, 195, 182, 122, 195, 182, 116, 116, 2, 108, 97, 5, 108, 97, 110,
    103, 101, 3, 108, 97, 115, 2, 108, 101, 6, 108, 101, 103, 121, 101, 110, 5, 108, 101, 104, 101,
    116, 3, 108, 101, 105, 3, 108, 101, 115, 4, 108, 101, 115, 122, 3, 108, 101, 116, 4, 108, 101,
    116, 116, 4, 108, 101, 117, 114, 5, 108, 101, 117, 114, 115, 3, 108, 104, 101, 2, 108, 105, 4,
    108, 105, 103, 101, 8, 108, 105, 115, 195, 164, 107, 115, 105, 2, 108, 108, 2, 108, 111, 3,
    108, 111, 114, 4, 108, 111, 114, 111, 4, 108, 111, 114, 115, 7, 108, 111, 114, 115, 113, 117,
    101, 3, 108, 111, 115, 3, 108, 117, 98, 5, 108, 117, 101, 103, 111, 3, 108, 117, 105, 3, 108,
    122, 101, 3, 108, 195, 160, 3, 108, 195, 161, 2, 109, 97, 4, 109, 97, 97, 114, 3, 109, 97, 105,
    5, 109, 97, 105, 111, 114, 4, 109, 97, 105, 115, 4, 109, 97, 106, 100, 5, 109, 97, 106, 196,
    133, 5, 109, 97, 107, 101, 110, 3, 109, 97, 110, 5, 109, 97, 110, 103, 101, 4, 109, 97, 110,
    121, 3, 109, 97, 115, 3, 109, 97, 121, 2, 109, 101, 3, 109, 101, 100, 8, 109, 101, 100, 105,
    97, 110, 116, 101, 3, 109, 101, 101, 4, 109, 101, 101, 114, 3, 109, 101, 103, 5, 109, 101, 103,
    101, 116, 4, 109, 101, 104, 114, 7, 109, 101, 104, 114, 101, 114, 101, 4, 109, 101, 105, 110,
    5, 109, 101, 106, 111, 114, 6, 109, 101, 108, 108, 111, 109, 4, 109, 101, 108, 121, 6, 109,
    101, 108, 121, 105, 107, 3, 109, 101, 110, 6, 109, 101, 110, 110, 121, 105, 5, 109, 101, 110,
    111, 115, 6, 109, 101, 110, 116, 114, 101, 3, 109, 101, 114, 4, 109, 101, 114, 116, 3, 109,
    101, 115, 5, 109, 101, 115, 109, 97, 6, 109, 101, 115, 109, 97, 115, 5, 109, 101, 115, 109,
    111, 3, 109, 101, 116, 3, 109, 101, 117, 4, 109, 101, 122, 105, 2, 109, 105, 5, 109, 105, 97,
    116, 116, 4, 109, 105, 99, 104, 8, 109, 105, 101, 110, 116, 114, 97, 115, 3, 109, 105, 103, 5,
    109, 105, 103, 104, 116, 3, 109, 105, 106, 4, 109, 105, 106, 110, 5, 109, 105, 107, 111, 114,
    5, 109, 105, 107, 115, 105, 5, 109, 105, 107, 195, 164, 9, 109, 105, 108, 108, 97, 105, 110,
    101, 110, 7, 109, 105, 108, 108, 111, 105, 110, 6, 109, 105, 108, 121, 101, 110, 3, 109, 105,
    110, 4, 109, 105, 110, 100, 6, 109, 105, 110, 100, 101, 110, 5, 109, 105, 110, 104, 97, 4, 109,
    105, 110, 116, 5, 109, 105, 110, 195, 164, 3, 109, 105, 111, 3, 109, 105, 114, 3, 109, 105,
    115, 5, 109, 105, 115, 109, 97, 5, 109, 105, 115, 109, 111, 6, 109, 105, 115, 115, 195, 164, 3,
    109, 105, 116, 5, 109, 105, 116, 101, 110, 6, 109, 105, 116, 107, 195, 164, 5, 109, 105, 116,
    195, 164, 5, 109, 105, 118, 101, 108, 6, 109, 105, 195, 169, 114, 116, 7, 109, 105, 196, 153,
    100, 122, 121, 4, 109, 110, 105, 101, 3, 109, 111, 100, 4, 109, 111, 101, 116, 6, 109, 111,
    101, 116, 101, 110, 8, 109, 111, 103, 101, 108, 105, 106, 107, 5, 109, 111, 103, 196, 133, 5,
    109, 111, 104, 111, 117, 3, 109, 111, 105, 5, 109, 111, 108, 116, 105, 5, 109, 111, 108, 116,
    111, 3, 109, 111, 110, 5, 109, 111, 110, 116, 97, 4, 109, 111, 114, 101, 4, 109, 111, 115, 116,
    3, 109, 111, 116, 4, 109, 111, 197, 188, 5, 109, 111, 197, 188, 101, 6, 109, 111, 197, 188,
    110, 97, 2, 109, 117, 4, 109, 117, 99, 104, 5, 109, 117, 99, 104, 111, 6, 109, 117, 99, 104,
    111, 115, 6, 109, 117, 105, 116, 97, 115, 5, 109, 117, 105, 116, 111, 6, 109, 117, 105, 116,
    111, 115, 6, 109, 117, 107, 97, 97, 110, 4, 109, 117, 108, 116, 5, 109, 117, 108, 116, 101, 6,
    109, 117, 108, 200, 155, 105, 4, 109, 117, 115, 105, 6, 109, 117, 115, 105, 115, 122, 4, 109,
    117, 115, 115, 4, 109, 117, 115, 116, 5, 109, 117, 115, 195, 173, 5, 109, 117, 116, 116, 97, 3,
    109, 117, 121, 2, 109, 121, 6, 109, 121, 99, 107, 101, 116, 5, 109, 121, 195, 182, 115, 3, 109,
    195, 161, 4, 109, 195, 161, 114, 4, 109, 195, 161, 115, 3, 109, 195, 165, 5, 109, 195, 165,
    100, 101, 4, 109, 195, 165, 110, 6, 109, 195, 165, 110, 103, 97, 6, 109, 195, 165, 115, 116,
    101, 5, 109, 195, 165, 116, 101, 4, 109, 195, 169, 103, 5, 109, 195, 170, 109, 101, 8, 109,
    195, 182, 99, 104, 116, 101, 110, 3, 109, 195, 188, 7, 109, 195, 188, 115, 115, 101, 110, 7,
    109, 195, 188, 115, 115, 116, 101, 3, 109, 196, 155, 4, 109, 196, 155, 108, 3, 109, 196, 177,
    6, 109, 197, 175, 197, 190, 101, 8, 109, 197, 175, 197, 190, 101, 116, 101, 2, 110, 97, 4, 110,
    97, 97, 114, 4, 110, 97, 99, 104, 7, 110, 97, 99, 104, 100, 101, 109, 3, 110, 97, 100, 4, 110,
    97, 100, 97, 7, 110, 97, 108, 101, 197, 188, 121, 8, 110, 97, 109, 101, 108, 105, 106, 107, 11,
    110, 97, 112, 197, 153, 195, 173, 107, 108, 97, 100, 3, 110, 97, 115, 6, 110, 97, 115, 196,
    177, 108, 5, 110, 97, 119, 101, 116, 2, 110, 101, 5, 110, 101, 98, 101, 110, 4, 110, 101, 98,
    111, 3, 110, 101, 100, 5, 110, 101, 100, 101, 110, 5, 110, 101, 100, 105, 114, 5, 110, 101,
    103, 108, 105, 3, 110, 101, 105, 6, 110, 101, 106, 115, 111, 117, 3, 110, 101, 108, 5, 110,
    101, 108, 101, 114, 4, 110, 101, 108, 108, 5, 110, 101, 108, 108, 97, 5, 110, 101, 108, 108,
    101, 5, 110, 101, 108, 108, 111, 3, 110, 101, 109, 6, 110, 101, 110, 104, 117, 109, 5, 110,
    101, 110, 195, 173, 6, 110, 101, 114, 101, 100, 101, 6, 110, 101, 115, 115, 117, 110, 7, 110,
    101, 115, 115, 117, 110, 97, 5, 110, 101, 115, 116, 97, 5, 110, 101, 115, 116, 101, 4, 110,
    101, 197, 190, 2, 110, 105, 3, 110, 105, 99, 4, 110, 105, 99, 104, 5, 110, 105, 99, 104, 116,
    6, 110, 105, 99, 104, 116, 115, 4, 110, 105, 99, 105, 3, 110, 105, 101, 4, 110, 105, 101, 116,
    5, 110, 105, 101, 116, 115, 6, 110, 105, 101, 117, 119, 101, 6, 110, 105, 105, 100, 101, 110,
    4, 110, 105, 105, 110, 6, 110, 105, 105, 116, 195, 164, 3, 110, 105, 109, 5, 110, 105, 110, 99,
    115, 4, 110, 105, 121, 101, 6, 110, 105, 195, 167, 105, 110, 4, 110, 105, 196, 133, 4, 110,
    105, 197, 188, 6, 110, 105, 200, 153, 116, 101, 2, 110, 111, 4, 110, 111, 99, 104, 5, 110, 111,
    100, 105, 103, 3, 110, 111, 101, 4, 110, 111, 101, 110, 3, 110, 111, 103, 5, 110, 111, 103,
    101, 110, 5, 110, 111, 103, 101, 116, 5, 110, 111, 103, 108, 101, 3, 110, 111, 105, 3, 110,
    111, 110, 5, 110, 111, 111, 105, 116, 3, 110, 111, 115, 3, 110, 111, 116, 9, 110, 111, 116, 97,
    109, 109, 101, 110, 116, 5, 110, 111, 116, 114, 101, 4, 110, 111, 117, 115, 7, 110, 111, 117,
    118, 101, 97, 117, 2, 110, 112, 2, 110, 117, 7, 110, 117, 101, 115, 116, 114, 111, 5, 110, 117,
    101, 118, 97, 5, 110, 117, 101, 118, 111, 3, 110, 117, 109, 4, 110, 117, 109, 97, 5, 110, 117,
    109, 97, 105, 3, 110, 117, 110, 5, 110, 117, 110, 99, 97, 3, 110, 117, 114, 5, 110, 121, 110,
    195, 173, 3, 110, 121, 116, 4, 110, 195, 163, 111, 7, 110, 195, 164, 105, 100, 101, 110, 6,
    110, 195, 164, 109, 195, 164, 4, 110, 195, 164, 114, 3, 110, 195, 165, 6, 110, 195, 165, 103,
    111, 110, 6, 110, 195, 165, 103, 111, 116, 6, 110, 195, 165, 103, 114, 97, 4, 110, 195, 165,
    114, 8, 110, 195, 169, 104, 195, 161, 110, 121, 8, 110, 195, 169, 108, 107, 195, 188, 108, 4,
    110, 195, 179, 115, 3, 110, 196, 155, 9, 110, 196, 155, 107, 116, 101, 114, 195, 169, 2, 111,
    98, 4, 111, 98, 101, 110, 3, 111, 99, 104, 2, 111, 100, 4, 111, 100, 101, 114, 2, 111, 102, 5,
    111, 102, 119, 101, 108, 2, 111, 103, 4, 111, 103, 110, 105, 5, 111, 103, 115, 195, 165, 4,
    111, 104, 110, 101, 4, 111, 108, 97, 110, 6, 111, 108, 97, 114, 97, 107, 4, 111, 108, 100, 117,
    7, 111, 108, 100, 117, 196, 159, 117, 4, 111, 108, 101, 110, 4, 111, 108, 101, 116, 6, 111,
    108, 101, 118, 97, 110, 3, 111, 108, 105, 4, 111, 108, 108, 97, 7, 111, 108, 109, 97, 115, 196,
    177, 5, 111, 108, 116, 114, 101, 4, 111, 108, 117, 112, 4, 111, 108, 117, 114, 5, 111, 108,
    121, 97, 110, 2, 111, 109, 3, 111, 109, 97, 5, 111, 109, 100, 97, 116, 2, 111, 110, 3, 111,
    110, 97, 5, 111, 110, 100, 97, 110, 4, 111, 110, 100, 101, 5, 111, 110, 100, 101, 114, 3, 111,
    110, 105, 5, 111, 110, 108, 97, 114, 4, 111, 110, 108, 121, 3, 111, 110, 115, 3, 111, 110, 116,
    3, 111, 110, 117, 4, 111, 110, 117, 110, 4, 111, 110, 122, 101, 3, 111, 111, 107, 2, 111, 112,
    7, 111, 112, 110, 105, 101, 117, 119, 3, 111, 112, 112, 2, 111, 114, 3, 111, 114, 97, 4, 111,
    114, 97, 122, 3, 111, 114, 105, 5, 111, 114, 105, 99, 101, 2, 111, 115, 3, 111, 115, 115, 5,
    111, 115, 115, 105, 97, 5, 111, 116, 104, 101, 114, 4, 111, 116, 114, 97, 5, 111, 116, 114, 97,
    115, 4, 111, 116, 114, 111, 5, 111, 116, 114, 111, 115, 3, 111, 116, 116, 2, 111, 117, 3, 111,
    117, 114, 3, 111, 117, 116, 5, 111, 117, 116, 114, 97, 6, 111, 117, 116, 114, 97, 115, 5, 111,
    117, 116, 114, 111, 6, 111, 117, 116, 114, 111, 115, 4, 111, 118, 97, 116, 4, 111, 118, 101,
    114, 3, 111, 195, 185, 3, 112, 97, 107, 3, 112, 97, 114, 4, 112, 97, 114, 97, 3, 112, 97, 115,
    2, 112, 101, 5, 112, 101, 100, 105, 103, 4, 112, 101, 108, 97, 5, 112, 101, 108, 97, 115, 4,
    112, 101, 108, 111, 5, 112, 101, 108, 111, 115, 6, 112, 101, 110, 116, 114, 117, 3, 112, 101,
    114, 7, 112, 101, 114, 99, 104, 195, 169, 4, 112, 101, 114, 111, 4, 112, 101, 117, 116, 7, 112,
    101, 117, 118, 101, 110, 116, 4, 112, 101, 117, 120, 7, 112, 105, 116, 195, 164, 195, 164, 9,
    112, 105, 117, 116, 116, 111, 115, 116, 111, 4, 112, 105, 195, 185, 6, 112, 108, 101, 97, 115,
    101, 4, 112, 108, 117, 115, 9, 112, 108, 117, 115, 105, 101, 117, 114, 115, 2, 112, 111, 5,
    112, 111, 97, 116, 101, 3, 112, 111, 100, 7, 112, 111, 100, 99, 122, 97, 115, 4, 112, 111, 100,
    101, 5, 112, 111, 100, 101, 109, 5, 112, 111, 100, 101, 114, 3, 112, 111, 105, 4, 112, 111,
    105, 115, 5, 112, 111, 107, 117, 100, 7, 112, 111, 109, 111, 99, 195, 173, 7, 112, 111, 109,
    111, 99, 196, 133, 9, 112, 111, 110, 105, 101, 119, 97, 197, 188, 7, 112, 111, 112, 114, 122,
    101, 122, 3, 112, 111, 114, 6, 112, 111, 114, 113, 117, 101, 6, 112, 111, 114, 195, 169, 109,
    9, 112, 111, 115, 115, 105, 98, 105, 108, 101, 5, 112, 111, 115, 115, 111, 7, 112, 111, 115,
    115, 111, 110, 111, 3, 112, 111, 116, 5, 112, 111, 116, 111, 109, 5, 112, 111, 117, 99, 111, 4,
    112, 111, 117, 114, 8, 112, 111, 117, 114, 113, 117, 111, 105, 6, 112, 111, 117, 118, 101, 122,
    8, 112, 111, 119, 105, 110, 105, 101, 110, 5, 112, 114, 105, 109, 97, 7, 112, 114, 105, 109,
    101, 114, 111, 4, 112, 114, 105, 110, 3, 112, 114, 111, 7, 112, 114, 111, 112, 114, 105, 111,
    5, 112, 114, 111, 116, 111, 8, 112, 114, 111, 116, 111, 197, 190, 101, 5, 112, 114, 111, 196,
    141, 6, 112, 114, 118, 110, 195, 173, 5, 112, 114, 122, 101, 100, 5, 112, 114, 122, 101, 122,
    4, 112, 114, 122, 121, 5, 112, 117, 101, 100, 101, 6, 112, 117, 101, 100, 101, 110, 5, 112,
    117, 101, 100, 111, 4, 112, 117, 101, 115, 4, 112, 117, 105, 115, 4, 112, 117, 114, 101, 7,
    112, 117, 116, 101, 200, 155, 105, 4, 112, 117, 195, 178, 6, 112, 195, 162, 110, 196, 131, 3,
    112, 195, 165, 9, 112, 195, 169, 108, 100, 195, 161, 117, 108, 5, 112, 195, 180, 100, 101, 5,
    112, 197, 153, 101, 100, 4, 112, 197, 153, 105, 2, 113, 117, 5, 113, 117, 97, 105, 115, 9, 113,
    117, 97, 105, 115, 113, 117, 101, 114, 4, 113, 117, 97, 108, 7, 113, 117, 97, 108, 99, 104,
    101, 5, 113, 117, 97, 108, 101, 5, 113, 117, 97, 108, 105, 8, 113, 117, 97, 108, 113, 117, 101,
    114, 9, 113, 117, 97, 108, 115, 105, 97, 115, 105, 5, 113, 117, 97, 110, 100, 6, 113, 117, 97,
    110, 100, 111, 6, 113, 117, 97, 110, 116, 97, 7, 113, 117, 97, 110, 116, 97, 115, 6, 113, 117,
    97, 110, 116, 101, 6, 113, 117, 97, 110, 116, 105, 6, 113, 117, 97, 110, 116, 111, 7, 113, 117,
    97, 110, 116, 111, 115, 3, 113, 117, 101, 4, 113, 117, 101, 108, 6, 113, 117, 101, 108, 108,
    97, 6, 113, 117, 101, 108, 108, 101, 7, 113, 117, 101, 108, 108, 101, 115, 6, 113, 117, 101,
    108, 108, 105, 6, 113, 117, 101, 108, 108, 111, 5, 113, 117, 101, 108, 115, 4, 113, 117, 101,
    109, 6, 113, 117, 101, 115, 116, 97, 6, 113, 117, 101, 115, 116, 101, 6, 113, 117, 101, 115,
    116, 105, 6, 113, 117, 101, 115, 116, 111, 3, 113, 117, 105, 5, 113, 117, 105, 101, 110, 6,
    113, 117, 105, 110, 100, 105, 6, 113, 117, 105, 195, 169, 110, 4, 113, 117, 111, 105, 4, 113,
    117, 195, 169, 2, 114, 101, 5, 114, 101, 101, 100, 115, 9, 114, 195, 179, 119, 110, 105, 101,
    197, 188, 2, 115, 97, 6, 115, 97, 100, 101, 99, 101, 6, 115, 97, 106, 195, 161, 116, 4, 115,
    97, 108, 101, 3, 115, 97, 109, 5, 115, 97, 109, 101, 110, 5, 115, 97, 110, 107, 105, 4, 115,
    97, 110, 115, 7, 115, 97, 114, 97, 110, 110, 111, 5, 115, 97, 114, 195, 160, 3, 115, 97, 117,
    2, 115, 101, 3, 115, 101, 97, 7, 115, 101, 99, 111, 110, 100, 111, 5, 115, 101, 100, 97, 110,
    3, 115, 101, 103, 6, 115, 101, 103, 195, 186, 110, 4, 115, 101, 105, 110, 5, 115, 101, 105,
    110, 101, 6, 115, 101, 105, 110, 101, 110, 6, 115, 101, 105, 110, 101, 114, 4, 115, 101, 105,
    116, 5, 115, 101, 107, 195, 164, 6, 115, 101, 108, 98, 115, 116, 4, 115, 101, 108, 118, 3, 115,
    101, 109, 6, 115, 101, 109, 112, 114, 101, 3, 115, 101, 110, 5, 115, 101, 110, 122, 97, 3, 115,
    101, 114, 4, 115, 101, 114, 97, 6, 115, 101, 114, 97, 105, 116, 5, 115, 101, 114, 195, 161, 6,
    115, 101, 114, 195, 163, 111, 3, 115, 101, 115, 3, 115, 101, 117, 9, 115, 101, 117, 108, 101,
    109, 101, 110, 116, 4, 115, 101, 117, 115, 5, 115, 104, 97, 108, 108, 3, 115, 104, 101, 6, 115,
    104, 111, 117, 108, 100, 4, 115, 104, 111, 119, 2, 115, 105, 3, 115, 105, 97, 5, 115, 105, 97,
    110, 111, 4, 115, 105, 99, 104, 5, 115, 105, 100, 101, 110, 4, 115, 105, 100, 111, 3, 115, 105,
    101, 7, 115, 105, 101, 109, 112, 114, 101, 3, 115, 105, 103, 4, 115, 105, 105, 115, 6, 115,
    105, 105, 116, 195, 164, 7, 115, 105, 108, 108, 111, 105, 110, 6, 115, 105, 108, 108, 195, 164,
    3, 115, 105, 109, 3, 115, 105, 110, 4, 115, 105, 110, 100, 5, 115, 105, 110, 100, 115, 4, 115,
    105, 110, 111, 5, 115, 105, 110, 111, 110, 5, 115, 105, 110, 195, 164, 5, 115, 105, 116, 101,
    110, 6, 115, 105, 116, 116, 101, 110, 3, 115, 105, 122, 5, 115, 105, 122, 105, 110, 4, 115,
    105, 196, 153, 6, 115, 106, 195, 164, 108, 118, 3, 115, 107, 97, 4, 115, 107, 97, 108, 5, 115,
    107, 97, 108, 108, 6, 115, 107, 117, 108, 108, 101, 4, 115, 108, 105, 107, 2, 115, 111, 6, 115,
    111, 98, 97, 108, 100, 5, 115, 111, 98, 105, 101, 5, 115, 111, 98, 114, 101, 6, 115, 111, 100,
    97, 115, 115, 6, 115, 111, 102, 101, 114, 110, 4, 115, 111, 105, 116, 6, 115, 111, 108, 99,
    104, 101, 4, 115, 111, 108, 108, 6, 115, 111, 108, 108, 116, 101, 4, 115, 111, 108, 111, 3,
    115, 111, 109, 4, 115, 111, 109, 101, 5, 115, 111, 109, 105, 116, 6, 115, 111, 109, 109, 101,
    115, 7, 115, 111, 109, 109, 105, 103, 101, 3, 115, 111, 110, 7, 115, 111, 110, 100, 101, 114,
    110, 4, 115, 111, 110, 111, 5, 115, 111, 110, 114, 97, 5, 115, 111, 110, 115, 116, 4, 115, 111,
    110, 116, 5, 115, 111, 112, 114, 97, 5, 115, 111, 116, 116, 111, 4, 115, 111, 117, 115, 5, 115,
    111, 119, 105, 101, 5, 115, 116, 97, 116, 97, 5, 115, 116, 97, 116, 101, 5, 115, 116, 97, 116,
    105, 5, 115, 116, 97, 116, 111, 5, 115, 116, 97, 116, 116, 6, 115, 116, 101, 101, 100, 115, 7,
    115, 116, 101, 106, 110, 196, 155, 2, 115, 117, 3, 115, 117, 97, 4, 115, 117, 97, 115, 3, 115,
    117, 98, 4, 115, 117, 99, 104, 3, 115, 117, 105, 3, 115, 117, 108, 4, 115, 117, 108, 108, 5,
    115, 117, 108, 108, 97, 5, 115, 117, 108, 108, 101, 4, 115, 117, 110, 116, 3, 115, 117, 111, 3,
    115, 117, 114, 3, 115, 117, 115, 4, 115, 118, 111, 117, 4, 115, 118, 195, 169, 5, 115, 118,
    197, 175, 106, 5, 115, 119, 111, 106, 101, 5, 115, 119, 195, 179, 106, 7, 115, 122, 101, 114,
    105, 110, 116, 9, 115, 122, 195, 161, 109, 195, 161, 114, 97, 11, 115, 122, 195, 188, 107, 115,
    195, 169, 103, 101, 115, 4, 115, 195, 163, 111, 3, 115, 195, 165, 6, 115, 195, 165, 100, 97,
    110, 3, 115, 195, 179, 5, 115, 195, 179, 108, 111, 3, 115, 196, 131, 3, 115, 196, 133, 2, 116,
    97, 3, 116, 97, 105, 4, 116, 97, 105, 115, 3, 116, 97, 107, 7, 116, 97, 107, 111, 118, 195,
    169, 5, 116, 97, 107, 116, 111, 5, 116, 97, 107, 195, 169, 6, 116, 97, 107, 197, 188, 101, 3,
    116, 97, 108, 4, 116, 97, 108, 101, 4, 116, 97, 108, 105, 3, 116, 97, 109, 8, 116, 97, 109, 98,
    105, 195, 169, 110, 7, 116, 97, 109, 98, 195, 169, 109, 5, 116, 97, 110, 116, 111, 11, 116, 97,
    114, 97, 102, 196, 177, 110, 100, 97, 110, 4, 116, 97, 116, 111, 2, 116, 101, 4, 116, 101, 100,
    121, 5, 116, 101, 103, 101, 110, 4, 116, 101, 103, 111, 6, 116, 101, 104, 195, 161, 116, 3,
    116, 101, 106, 3, 116, 101, 108, 4, 116, 101, 108, 108, 5, 116, 101, 108, 108, 101, 3, 116,
    101, 109, 3, 116, 101, 110, 5, 116, 101, 110, 116, 111, 3, 116, 101, 114, 7, 116, 101, 114,
    119, 105, 106, 108, 3, 116, 101, 115, 4, 116, 104, 97, 110, 4, 116, 104, 97, 116, 3, 116, 104,
    101, 5, 116, 104, 101, 105, 114, 4, 116, 104, 101, 109, 4, 116, 104, 101, 110, 5, 116, 104,
    101, 114, 101, 5, 116, 104, 101, 115, 101, 4, 116, 104, 101, 121, 4, 116, 104, 105, 115, 7,
    116, 104, 114, 111, 117, 103, 104, 2, 116, 105, 5, 116, 105, 101, 110, 101, 6, 116, 105, 101,
    110, 101, 110, 7, 116, 105, 106, 100, 101, 110, 115, 3, 116, 105, 108, 4, 116, 105, 108, 108,
    2, 116, 111, 5, 116, 111, 97, 116, 101, 4, 116, 111, 99, 104, 4, 116, 111, 100, 97, 5, 116,
    111, 100, 97, 115, 4, 116, 111, 100, 111, 5, 116, 111, 100, 111, 115, 4, 116, 111, 101, 110, 6,
    116, 111, 104, 111, 116, 111, 3, 116, 111, 105, 3, 116, 111, 109, 5, 116, 111, 109, 116, 111,
    3, 116, 111, 110, 3, 116, 111, 111, 3, 116, 111, 116, 4, 116, 111, 116, 111, 7, 116, 111, 116,
    117, 200, 153, 105, 4, 116, 111, 117, 115, 4, 116, 111, 117, 116, 5, 116, 111, 117, 116, 101,
    6, 116, 111, 117, 116, 101, 115, 9, 116, 111, 118, 195, 161, 98, 98, 195, 161, 5, 116, 111,
    200, 155, 105, 3, 116, 114, 97, 4, 116, 114, 97, 115, 7, 116, 114, 101, 98, 117, 105, 101, 5,
    116, 114, 111, 116, 122, 5, 116, 114, 195, 168, 115, 2, 116, 117, 3, 116, 117, 100, 4, 116,
    117, 100, 111, 3, 116, 117, 115, 6, 116, 117, 115, 115, 101, 110, 5, 116, 117, 116, 116, 97, 5,
    116, 117, 116, 116, 101, 5, 116, 117, 116, 116, 105, 5, 116, 117, 116, 116, 111, 5, 116, 119,
    111, 106, 101, 2, 116, 121, 4, 116, 121, 99, 104, 5, 116, 121, 108, 107, 111, 3, 116, 121, 109,
    4, 116, 121, 109, 105, 6, 116, 195, 164, 109, 195, 164, 7, 116, 195, 164, 109, 195, 164, 110,
    6, 116, 195, 164, 116, 195, 164, 5, 116, 195, 169, 116, 111, 4, 116, 195, 170, 109, 4, 116,
    195, 173, 109, 5, 116, 195, 182, 98, 98, 4, 116, 195, 188, 109, 7, 116, 196, 155, 99, 104, 116,
    111, 2, 117, 100, 3, 117, 105, 116, 2, 117, 109, 3, 117, 109, 97, 2, 117, 110, 3, 117, 110, 97,
    3, 117, 110, 100, 4, 117, 110, 100, 101, 5, 117, 110, 100, 101, 114, 3, 117, 110, 101, 4, 117,
    110, 101, 105, 3, 117, 110, 111, 4, 117, 110, 111, 114, 4, 117, 110, 111, 115, 3, 117, 110,
    115, 6, 117, 110, 115, 101, 114, 101, 7, 117, 110, 115, 101, 114, 101, 114, 5, 117, 110, 116,
    101, 114, 4, 117, 110, 117, 105, 2, 117, 112, 3, 117, 112, 112, 2, 117, 115, 6, 117, 115, 97,
    110, 100, 111, 5, 117, 115, 116, 101, 100, 2, 117, 116, 4, 117, 116, 97, 110, 4, 117, 116, 101,
    110, 5, 117, 116, 195, 161, 110, 2, 117, 119, 3, 117, 197, 190, 2, 118, 97, 4, 118, 97, 97,
    107, 4, 118, 97, 97, 110, 3, 118, 97, 100, 4, 118, 97, 103, 121, 3, 118, 97, 105, 6, 118, 97,
    105, 107, 107, 97, 4, 118, 97, 105, 110, 8, 118, 97, 108, 97, 109, 105, 110, 116, 3, 118, 97,
    110, 5, 118, 97, 110, 97, 102, 6, 118, 97, 110, 110, 97, 107, 3, 118, 97, 114, 4, 118, 97, 114,
    97, 7, 118, 97, 114, 100, 196, 177, 114, 7, 118, 97, 114, 102, 195, 182, 114, 5, 118, 97, 197,
    161, 101, 2, 118, 101, 3, 118, 101, 100, 4, 118, 101, 101, 108, 4, 118, 101, 108, 101, 3, 118,
    101, 109, 7, 118, 101, 110, 103, 111, 110, 111, 6, 118, 101, 114, 100, 101, 114, 6, 118, 101,
    114, 114, 195, 160, 4, 118, 101, 114, 115, 10, 118, 101, 114, 118, 111, 108, 103, 101, 110,
    115, 4, 118, 101, 114, 121, 4, 118, 101, 121, 97, 3, 118, 101, 122, 2, 118, 105, 3, 118, 105,
    97, 3, 118, 105, 100, 4, 118, 105, 101, 108, 5, 118, 105, 101, 108, 101, 6, 118, 105, 101, 108,
    195, 164, 5, 118, 105, 101, 110, 101, 3, 118, 105, 108, 5, 118, 105, 108, 107, 97, 6, 118, 105,
    108, 107, 101, 110, 6, 118, 105, 108, 107, 101, 116, 6, 118, 105, 115, 115, 122, 97, 7, 118,
    105, 115, 122, 111, 110, 116, 5, 118, 111, 99, 195, 170, 6, 118, 111, 99, 195, 170, 115, 3,
    118, 111, 105, 5, 118, 111, 105, 99, 105, 7, 118, 111, 105, 100, 97, 97, 110, 4, 118, 111, 105,
    114, 4, 118, 111, 105, 116, 6, 118, 111, 105, 118, 97, 116, 8, 118, 111, 108, 103, 101, 110,
    100, 101, 5, 118, 111, 108, 110, 97, 4, 118, 111, 108, 116, 3, 118, 111, 109, 3, 118, 111, 110,
    4, 118, 111, 111, 114, 7, 118, 111, 111, 114, 100, 97, 116, 3, 118, 111, 114, 5, 118, 111, 114,
    101, 115, 3, 118, 111, 115, 5, 118, 111, 116, 114, 101, 4, 118, 111, 117, 115, 2, 118, 121, 4,
    118, 195, 161, 109, 5, 118, 195, 161, 197, 161, 5, 118, 195, 165, 114, 97, 5, 118, 195, 165,
    114, 101, 5, 118, 195, 165, 114, 116, 5, 118, 195, 166, 114, 101, 5, 118, 195, 166, 114, 116,
    3, 118, 196, 131, 5, 118, 197, 161, 97, 107, 6, 118, 197, 161, 101, 99, 104, 8, 118, 197, 161,
    101, 99, 104, 110, 111, 8, 118, 197, 161, 101, 99, 104, 110, 121, 4, 119, 97, 97, 114, 7, 119,
    97, 97, 114, 98, 105, 106, 7, 119, 97, 97, 114, 109, 101, 101, 6, 119, 97, 97, 114, 111, 109,
    6, 119, 97, 97, 114, 111, 112, 4, 119, 97, 110, 110, 7, 119, 97, 110, 110, 101, 101, 114, 3,
    119, 97, 114, 5, 119, 97, 114, 101, 110, 5, 119, 97, 114, 117, 109, 3, 119, 97, 115, 4, 119,
    97, 115, 110, 3, 119, 97, 116, 2, 119, 101, 4, 119, 101, 101, 114, 4, 119, 101, 105, 108, 7,
    119, 101, 105, 116, 101, 114, 101, 9, 119, 101, 105, 116, 101, 114, 104, 105, 110, 3, 119, 101,
    108, 6, 119, 101, 108, 99, 104, 101, 7, 119, 101, 108, 99, 104, 101, 109, 7, 119, 101, 108, 99,
    104, 101, 110, 7, 119, 101, 108, 99, 104, 101, 114, 7, 119, 101, 108, 99, 104, 101, 115, 4,
    119, 101, 108, 107, 5, 119, 101, 108, 107, 101, 3, 119, 101, 109, 3, 119, 101, 110, 5, 119,
    101, 110, 105, 103, 7, 119, 101, 110, 105, 103, 101, 114, 4, 119, 101, 110, 110, 3, 119, 101,
    114, 4, 119, 101, 114, 100, 6, 119, 101, 114, 100, 101, 110, 4, 119, 101, 114, 101, 6, 119,
    101, 115, 115, 101, 110, 4, 119, 104, 97, 116, 4, 119, 104, 101, 110, 5, 119, 104, 101, 114,
    101, 5, 119, 104, 105, 99, 104, 5, 119, 104, 105, 108, 101, 3, 119, 104, 111, 4, 119, 104, 111,
    109, 5, 119, 104, 111, 115, 101, 3, 119, 104, 121, 3, 119, 105, 101, 6, 119, 105, 101, 100,
    101, 114, 5, 119, 105, 101, 115, 111, 3, 119, 105, 106, 4, 119, 105, 108, 108, 4, 119, 105,
    108, 116, 3, 119, 105, 114, 4, 119, 105, 114, 100, 4, 119, 105, 116, 104, 5, 119, 105, 196,
    153, 99, 2, 119, 111, 6, 119, 111, 102, 195, 188, 114, 5, 119, 111, 104, 101, 114, 5, 119, 111,
    104, 105, 110, 5, 119, 111, 109, 105, 116, 6, 119, 111, 114, 100, 101, 110, 5, 119, 111, 114,
    100, 116, 5, 119, 111, 117, 108, 100, 4, 119, 111, 122, 117, 10, 119, 115, 122, 121, 115, 116,
    107, 105, 99, 104, 9, 119, 115, 122, 121, 115, 116, 107, 105, 101, 5, 119, 116, 101, 100, 121,
    5, 119, 117, 114, 100, 101, 6, 119, 117, 114, 100, 101, 110, 8, 119, 195, 164, 104, 114, 101,
    110, 100, 7, 119, 197, 155, 114, 195, 179, 100, 2, 121, 97, 9, 121, 97, 108, 110, 196, 177,
    122, 99, 97, 4, 121, 97, 110, 105, 2, 121, 111, 3, 121, 111, 107, 5, 121, 111, 107, 115, 97, 3,
    121, 111, 117, 4, 121, 111, 117, 114, 2, 122, 97, 3, 122, 97, 108, 5, 122, 97, 109, 97, 110, 3,
    122, 100, 97, 3, 122, 100, 101, 2, 122, 101, 4, 122, 101, 108, 102, 5, 122, 101, 108, 102, 115,
    4, 122, 105, 99, 104, 3, 122, 105, 106, 4, 122, 105, 106, 110, 2, 122, 111, 5, 122, 111, 97,
    108, 115, 6, 122, 111, 110, 100, 101, 114, 8, 122, 111, 115, 116, 97, 110, 105, 101, 7, 122,
    111, 115, 116, 97, 197, 130, 8, 122, 111, 115, 116, 97, 197, 130, 97, 3, 122, 111, 117, 2, 122,
    117, 6, 122, 117, 108, 108, 101, 110, 4, 122, 117, 108, 116, 3, 122, 117, 109, 3, 122, 117,
    114, 8, 122, 119, 105, 115, 99, 104, 101, 110, 2, 195, 160, 6, 195, 161, 108, 116, 97, 108, 3,
    195, 164, 114, 2, 195, 165, 4, 195, 167, 111, 107, 8, 195, 167, 195, 188, 110, 107, 195, 188,
    2, 195, 168, 2, 195, 169, 3, 195, 169, 108, 3, 195, 169, 110, 3, 195, 169, 115, 8, 195, 169,
    116, 97, 105, 101, 110, 116, 6, 195, 169, 116, 97, 105, 116, 5, 195, 169, 116, 195, 169, 5,
    195, 170, 116, 114, 101, 4, 195, 173, 103, 121, 3, 195, 174, 105, 3, 195, 174, 108, 3, 195,
    174, 110, 8, 195, 174, 110, 97, 105, 110, 116, 101, 6, 195, 174, 110, 99, 196, 131, 6, 195,
    174, 110, 116, 114, 101, 5, 195, 174, 200, 153, 105, 5, 195, 182, 110, 99, 101, 6, 195, 182,
    115, 115, 122, 101, 5, 195, 182, 118, 101, 114, 4, 195, 186, 103, 121, 5, 195, 188, 98, 101,
    114, 6, 195, 188, 122, 101, 114, 101, 9, 195, 188, 122, 101, 114, 105, 110, 100, 101, 2, 197,
    145, 3, 197, 145, 107, 4, 197, 159, 101, 121, 3, 197, 159, 117, 3, 197, 188, 101, 5, 197, 188,
    101, 98, 121, 3, 197, 190, 101, 3, 200, 153, 105, 3, 200, 155, 105, 8, 206, 172, 206, 187, 206,
    187, 206, 177, 8, 206, 172, 206, 187, 206, 187, 206, 191, 6, 206, 173, 206, 189, 206, 177, 8,
    206, 173, 206, 189, 206, 177, 207, 130, 8, 206, 173, 207, 135, 206, 181, 206, 185, 10, 206,
    173, 207, 135, 206, 181, 207, 132, 206, 181, 10, 206, 173, 207, 135, 206, 191, 207, 133, 206,
    189, 2, 206, 174, 8, 206, 174, 207, 132, 206, 177, 206, 189, 8, 206, 177, 206, 187, 206, 187,
    206, 172, 4, 206, 177, 206, 189, 6, 206, 177, 207, 128, 207, 140, 8, 206, 177, 207, 133, 207,
    132, 206, 172, 10, 206, 177, 207, 133, 207, 132, 206, 173, 207, 130, 8, 206, 177, 207, 133,
    207, 132, 206, 174, 8, 206, 177, 207, 133, 207, 132, 207, 140, 10, 206, 177, 207, 133, 207,
    132, 207, 140, 207, 130, 6, 206, 179, 206, 185, 206, 177, 10, 206, 179, 206, 185, 206, 177,
    207, 132, 206, 175, 4, 206, 180, 206, 181, 6, 206, 180, 206, 181, 206, 189, 6, 206, 181, 206,
    172, 206, 189, 10, 206, 181, 206, 175, 206, 189, 206, 177, 206, 185, 6, 206, 181, 206, 179,
    207, 142, 8, 206, 181, 206, 186, 206, 181, 206, 175, 10, 206, 181, 206, 188, 206, 181, 206,
    175, 207, 130, 12, 206, 181, 207, 128, 206, 175, 207, 131, 206, 183, 207, 130, 12, 206, 181,
    207, 128, 206, 181, 206, 185, 206, 180, 206, 174, 2, 206, 183, 4, 206, 184, 206, 177, 8, 206,
    186, 206, 172, 206, 184, 206, 181, 12, 206, 186, 206, 172, 207, 128, 206, 191, 206, 185, 206,
    177, 12, 206, 186, 206, 172, 207, 128, 206, 191, 206, 185, 206, 191, 8, 206, 186, 206, 172,
    207, 132, 206, 185, 6, 206, 186, 206, 177, 206, 185, 8, 206, 186, 206, 177, 207, 132, 206, 172,
    8, 206, 188, 206, 173, 207, 131, 206, 177, 4, 206, 188, 206, 177, 6, 206, 188, 206, 177, 207,
    130, 4, 206, 188, 206, 181, 8, 206, 188, 206, 181, 207, 132, 206, 172, 4, 206, 188, 206, 183,
    6, 206, 188, 206, 183, 206, 189, 6, 206, 188, 206, 185, 206, 177, 6, 206, 188, 206, 191, 207,
    133, 12, 206, 188, 207, 128, 206, 191, 207, 129, 206, 181, 206, 175, 16, 206, 188, 207, 128,
    206, 191, 207, 129, 206, 181, 206, 175, 207, 132, 206, 181, 8, 206, 188, 207, 140, 206, 189,
    206, 191, 4, 206, 189, 206, 177, 2, 206, 191, 4, 206, 191, 206, 185, 8, 207, 128, 206, 191,
    206, 185, 206, 177, 8, 207, 128, 206, 191, 206, 185, 206, 191, 10, 207, 128, 206, 191, 206,
    185, 206, 191, 207, 130, 8, 207, 128, 206, 191, 206, 187, 207, 141, 6, 207, 128, 206, 191, 207,
    133, 6, 207, 128, 206, 191, 207, 141, 12, 207, 128, 207, 129, 206, 173, 207, 128, 206, 181,
    206, 185, 8, 207, 128, 207, 129, 206, 185, 206, 189, 8, 207, 128, 207, 129, 206, 191, 207, 130,
    6, 207, 128, 207, 137, 207, 130, 8, 207, 128, 207, 140, 207, 131, 206, 191, 8, 207, 128, 207,
    140, 207, 132, 206, 181, 6, 207, 128, 207, 142, 207, 130, 6, 207, 131, 206, 177, 206, 189, 6,
    207, 131, 206, 177, 207, 130, 4, 207, 131, 206, 181, 6, 207, 131, 207, 132, 206, 177, 6, 207,
    131, 207, 132, 206, 183, 8, 207, 131, 207, 132, 206, 183, 206, 189, 8, 207, 131, 207, 132, 206,
    185, 207, 130, 6, 207, 131, 207, 132, 206, 191, 8, 207, 131, 207, 132, 206, 191, 206, 189, 10,
    207, 131, 207, 132, 206, 191, 207, 133, 207, 130, 4, 207, 132, 206, 177, 4, 207, 132, 206, 183,
    6, 207, 132, 206, 183, 206, 189, 6, 207, 132, 206, 183, 207, 130, 4, 207, 132, 206, 185, 6,
    207, 132, 206, 185, 207, 130, 4, 207, 132, 206, 191, 6, 207, 132, 206, 191, 206, 189, 6, 207,
    132, 206, 191, 207, 133, 8, 207, 132, 206, 191, 207, 133, 207, 130, 6, 207, 132, 207, 137, 206,
    189, 8, 207, 132, 207, 140, 207, 132, 206, 181, 10, 207, 135, 207, 137, 207, 129, 206, 175,
    207, 130, 4, 207, 137, 207, 130, 6, 207, 140, 206, 187, 206, 177, 8, 207, 140, 206, 187, 206,
    181, 207, 130, 8, 207, 140, 206, 187, 206, 191, 206, 185, 8, 207, 140, 207, 128, 207, 137, 207,
    130, 6, 207, 140, 207, 131, 206, 191, 8, 207, 140, 207, 132, 206, 177, 206, 189, 6, 207, 140,
    207, 132, 206, 185, 6, 207, 140, 207, 135, 206, 185, 8, 207, 142, 207, 131, 207, 132, 206, 181,
    2, 208, 176, 6, 208, 177, 208, 181, 208, 183, 10, 208, 177, 208, 190, 208, 187, 208, 181, 208,
    181, 10, 208, 177, 209, 131, 208, 180, 208, 181, 209, 130, 10, 208, 177, 209, 131, 208, 180,
    209, 131, 209, 130, 4, 208, 177, 209, 139, 6, 208, 177, 209, 139, 208, 187, 8, 208, 177, 209,
    139, 208, 187, 208, 176, 8, 208, 177, 209, 139, 208, 187, 208, 184, 8, 208, 177, 209, 139, 208,
    187, 208, 190, 8, 208, 177, 209, 139, 209, 130, 209, 140, 2, 208, 178, 6, 208, 178, 208, 176,
    208, 188, 6, 208, 178, 208, 176, 209, 129, 6, 208, 178, 208, 176, 209, 136, 8, 208, 178, 208,
    176, 209, 136, 208, 176, 8, 208, 178, 208, 176, 209, 136, 208, 181, 12, 208, 178, 208, 176,
    209, 136, 208, 181, 208, 179, 208, 190, 8, 208, 178, 208, 181, 209, 129, 209, 140, 4, 208, 178,
    208, 190, 6, 208, 178, 208, 190, 209, 130, 6, 208, 178, 209, 129, 208, 181, 10, 208, 178, 209,
    129, 208, 181, 208, 179, 208, 190, 8, 208, 178, 209, 129, 208, 181, 209, 133, 4, 208, 178, 209,
    139, 6, 208, 179, 208, 180, 208, 181, 4, 208, 180, 208, 176, 8, 208, 180, 208, 176, 208, 182,
    208, 181, 6, 208, 180, 208, 187, 209, 143, 4, 208, 180, 208, 190, 12, 208, 180, 208, 190, 208,
    187, 208, 182, 208, 181, 208, 189, 12, 208, 180, 208, 190, 208, 187, 208, 182, 208, 189, 208,
    176, 12, 208, 180, 208, 190, 208, 187, 208, 182, 208, 189, 208, 190, 12, 208, 180, 208, 190,
    208, 187, 208, 182, 208, 189, 209, 139, 6, 208, 181, 208, 179, 208, 190, 4, 208, 181, 208, 181,
    4, 208, 181, 208, 185, 6, 208, 181, 208, 188, 209, 131, 8, 208, 181, 209, 129, 208, 187, 208,
    184, 8, 208, 181, 209, 129, 209, 130, 209, 140, 6, 208, 181, 209, 137, 208, 181, 4, 208, 181,
    209, 142, 4, 208, 182, 208, 181, 4, 208, 183, 208, 176, 10, 208, 183, 208, 176, 209, 135, 208,
    181, 208, 188, 10, 208, 183, 208, 180, 208, 181, 209, 129, 209, 140, 2, 208, 184, 4, 208, 184,
    208, 183, 6, 208, 184, 208, 187, 208, 184, 4, 208, 184, 208, 188, 12, 208, 184, 208, 188, 208,
    181, 208, 189, 208, 189, 208, 190, 24, 208, 184, 209, 129, 208, 191, 208, 190, 208, 187, 209,
    140, 208, 183, 208, 190, 208, 178, 208, 176, 209, 130, 209, 140, 24, 208, 184, 209, 129, 208,
    191, 208, 190, 208, 187, 209, 140, 208, 183, 209, 131, 208, 181, 209, 130, 209, 129, 209, 143,
    4, 208, 184, 209, 133, 2, 208, 186, 6, 208, 186, 208, 176, 208, 186, 10, 208, 186, 208, 176,
    208, 186, 208, 176, 209, 143, 10, 208, 186, 208, 176, 208, 186, 208, 184, 208, 181, 10, 208,
    186, 208, 176, 208, 186, 208, 184, 208, 188, 10, 208, 186, 208, 176, 208, 186, 208, 190, 208,
    185, 10, 208, 186, 208, 176, 208, 186, 208, 190, 208, 188, 10, 208, 186, 208, 176, 208, 186,
    209, 131, 209, 142, 4, 208, 186, 208, 190, 10, 208, 186, 208, 190, 208, 179, 208, 180, 208,
    176, 14, 208, 186, 208, 190, 209, 130, 208, 190, 209, 128, 208, 176, 209, 143, 16, 208, 186,
    208, 190, 209, 130, 208, 190, 209, 128, 208, 190, 208, 179, 208, 190, 14, 208, 186, 208, 190,
    209, 130, 208, 190, 209, 128, 208, 190, 208, 181, 14, 208, 186, 208, 190, 209, 130, 208, 190,
    209, 128, 208, 190, 208, 185, 14, 208, 186, 208, 190, 209, 130, 208, 190, 209, 128, 208, 190,
    208, 188, 14, 208, 186, 208, 190, 209, 130, 208, 190, 209, 128, 209, 131, 209, 142, 14, 208,
    186, 208, 190, 209, 130, 208, 190, 209, 128, 209, 139, 208, 181, 14, 208, 186, 208, 190, 209,
    130, 208, 190, 209, 128, 209, 139, 208, 185, 14, 208, 186, 208, 190, 209, 130, 208, 190, 209,
    128, 209, 139, 209, 133, 10, 208, 186, 209, 128, 208, 190, 208, 188, 208, 181, 6, 208, 186,
    209, 130, 208, 190, 4, 208, 187, 208, 184, 8, 208, 187, 208, 184, 208, 177, 208, 190, 8, 208,
    187, 208, 184, 209, 136, 209, 140, 10, 208, 188, 208, 181, 208, 182, 208, 180, 209, 131, 8,
    208, 188, 208, 181, 208, 189, 209, 143, 6, 208, 188, 208, 189, 208, 181, 12, 208, 188, 208,
    189, 208, 190, 208, 179, 208, 184, 208, 181, 10, 208, 188, 208, 190, 208, 179, 209, 131, 209,
    130, 10, 208, 188, 208, 190, 208, 182, 208, 181, 209, 130, 12, 208, 188, 208, 190, 208, 182,
    208, 181, 209, 130, 208, 181, 10, 208, 188, 208, 190, 208, 182, 208, 189, 208, 190, 6, 208,
    188, 208, 190, 208, 185, 4, 208, 188, 209, 139, 4, 208, 189, 208, 176, 6, 208, 189, 208, 176,
    208, 180, 8, 208, 189, 208, 176, 208, 180, 208, 190, 16, 208, 189, 208, 176, 208, 191, 209,
    128, 208, 184, 208, 188, 208, 181, 209, 128, 6, 208, 189, 208, 176, 209, 129, 6, 208, 189, 208,
    176, 209, 136, 4, 208, 189, 208, 181, 8, 208, 189, 208, 181, 208, 179, 208, 190, 6, 208, 189,
    208, 181, 208, 181, 6, 208, 189, 208, 181, 208, 185, 18, 208, 189, 208, 181, 208, 186, 208,
    190, 209, 130, 208, 190, 209, 128, 209, 139, 208, 181, 12, 208, 189, 208, 181, 208, 187, 209,
    140, 208, 183, 209, 143, 6, 208, 189, 208, 181, 209, 130, 6, 208, 189, 208, 181, 209, 145, 4,
    208, 189, 208, 184, 4, 208, 189, 208, 190, 10, 208, 189, 209, 131, 208, 182, 208, 189, 208,
    190, 2, 208, 190, 4, 208, 190, 208, 177, 8, 208, 190, 208, 180, 208, 184, 208, 189, 12, 208,
    190, 208, 180, 208, 189, 208, 176, 208, 186, 208, 190, 4, 208, 190, 208, 189, 6, 208, 190, 208,
    189, 208, 176, 6, 208, 190, 208, 189, 208, 184, 6, 208, 190, 208, 189, 208, 190, 4, 208, 190,
    209, 130, 4, 208, 191, 208, 190, 6, 208, 191, 208, 190, 208, 180, 10, 208, 191, 208, 190, 209,
    129, 208, 187, 208, 181, 12, 208, 191, 208, 190, 209, 130, 208, 190, 208, 188, 209, 131, 12,
    208, 191, 208, 190, 209, 135, 208, 181, 208, 188, 209, 131, 14, 208, 191, 208, 190, 209, 141,
    209, 130, 208, 190, 208, 188, 209, 131, 6, 208, 191, 209, 128, 208, 184, 12, 208, 191, 209,
    128, 208, 190, 209, 129, 209, 130, 208, 190, 2, 209, 129, 6, 209, 129, 208, 176, 208, 188, 14,
    209, 129, 208, 186, 208, 190, 208, 187, 209, 140, 208, 186, 208, 190, 14, 209, 129, 208, 187,
    208, 181, 208, 180, 209, 131, 208, 181, 209, 130, 12, 209, 129, 208, 187, 209, 131, 209, 135,
    208, 176, 208, 181, 10, 209, 129, 208, 189, 208, 190, 208, 178, 208, 176, 4, 209, 129, 208,
    190, 6, 209, 130, 208, 176, 208, 186, 10, 209, 130, 208, 176, 208, 186, 208, 176, 209, 143, 10,
    209, 130, 208, 176, 208, 186, 208, 182, 208, 181, 10, 209, 130, 208, 176, 208, 186, 208, 184,
    208, 181, 12, 209, 130, 208, 176, 208, 186, 208, 190, 208, 179, 208, 190, 10, 209, 130, 208,
    176, 208, 186, 208, 190, 208, 185, 6, 209, 130, 208, 176, 208, 188, 6, 209, 130, 208, 181, 208,
    188, 12, 209, 130, 208, 181, 208, 191, 208, 181, 209, 128, 209, 140, 4, 209, 130, 208, 190, 10,
    209, 130, 208, 190, 208, 179, 208, 180, 208, 176, 8, 209, 130, 208, 190, 208, 179, 208, 190, 8,
    209, 130, 208, 190, 208, 182, 208, 181, 12, 209, 130, 208, 190, 208, 187, 209, 140, 208, 186,
    208, 190, 6, 209, 130, 208, 190, 208, 188, 6, 209, 130, 208, 190, 209, 130, 6, 209, 130, 209,
    128, 208, 184, 4, 209, 130, 209, 131, 6, 209, 130, 209, 131, 209, 130, 2, 209, 131, 6, 209,
    131, 208, 182, 208, 181, 8, 209, 135, 208, 181, 208, 179, 208, 190, 6, 209, 135, 208, 181, 208,
    185, 6, 209, 135, 208, 181, 208, 188, 10, 209, 135, 208, 181, 209, 128, 208, 181, 208, 183, 6,
    209, 135, 209, 130, 208, 190, 10, 209, 135, 209, 130, 208, 190, 208, 177, 209, 139, 6, 209,
    141, 209, 130, 208, 176, 6, 209, 141, 209, 130, 208, 184, 6, 209, 141, 209, 130, 208, 190, 10,
    209, 141, 209, 130, 208, 190, 208, 179, 208, 190, 8, 209, 141, 209, 130, 208, 190, 208, 185, 8,
    209, 141, 209, 130, 208, 190, 208, 188, 8, 209, 141, 209, 130, 208, 190, 209, 130, 6, 209, 141,
    209, 130, 209, 131, 2, 209, 143,
};

/* By number of a word: where it starts, and a bit for each language that lists it. */
static const uint16_t common_starts[] = {
    0, 4, 7, 14, 20, 28, 33, 39, 43, 49, 54, 62, 71, 77, 83, 90, 97, 105, 113, 121, 129, 136, 142,
    148, 151, 159, 162, 167, 173, 178, 184, 187, 192, 197, 203, 209, 213, 219, 222, 228, 233, 240,
    247, 251, 256, 262, 269, 277, 284, 292, 299, 307, 314, 321, 325, 330, 335, 342, 348, 354, 360,
    366, 371, 377, 381, 386, 390, 395, 401, 407, 413, 419, 425, 431, 437, 440, 444, 450, 458, 462,
    469, 475, 478, 484, 490, 497, 501, 508, 516, 523, 529, 533, 539, 543, 549, 553, 556, 560, 567,
    572, 579, 586, 592, 599, 606, 611, 617, 620, 624, 629, 634, 637, 646, 652, 659, 664, 667, 671,
    678, 683, 686, 691, 697, 704, 708, 712, 718, 722, 725, 731, 736, 741, 747, 752, 759, 765, 771,
    774, 779, 787, 791, 798, 803, 807, 812, 819, 824, 830, 833, 841, 846, 853, 857, 862, 868, 874,
    878, 883, 889, 895, 903, 909, 913, 918, 922, 935, 939, 946, 950, 955, 963, 967, 975, 980, 984,
    990, 994, 999, 1003, 1008, 1014, 1021, 1024, 1029, 1035, 1040, 1046, 1053, 1059, 1066, 1069,
    1074, 1080, 1085, 1091, 1098, 1103, 1109, 1113, 1116, 1120, 1125, 1130, 1135, 1140, 1145, 1151,
    1157, 1163, 1167, 1176, 1183, 1191, 1196, 1204, 1211, 1214, 1219, 1223, 1227, 1232, 1237, 1242,
    1245, 1249, 1253, 1257, 1262, 1267, 1271, 1275, 1281, 1288, 1293, 1300, 1304, 1308, 1314, 1317,
    1325, 1330, 1335, 1340, 1343, 1347, 1351, 1355, 1363, 1368, 1374, 1382, 1387, 1396, 1400, 1408,
    1415, 1423, 1428, 1434, 1440, 1445, 1448, 1453, 1463, 1470, 1477, 1481, 1486, 1490, 1495, 1501,
    1509, 1517, 1525, 1534, 1542, 1551, 1557, 1561, 1567, 1572, 1578, 1585, 1591, 1595, 1602, 1605,
    1610, 1617, 1624, 1630, 1638, 1645, 1651, 1656, 1662, 1666, 1670, 1675, 1681, 1687, 1693, 1701,
    1711, 1717, 1721, 1726, 1731, 1735, 1740, 1744, 1749, 1753, 1759, 1764, 1767, 1776, 1781, 1787,
    1792, 1799, 1804, 1808, 1814, 1818, 1822, 1827, 1833, 1839, 1845, 1849, 1853, 1858, 1864, 1870,
    1875, 1882, 1889, 1896, 1900, 1906, 1911, 1917, 1923, 1929, 1933, 1939, 1946, 1955, 1960, 1967,
    1973, 1979, 1986, 1990, 1995, 2001, 2007, 2012, 2017, 2023, 2031, 2038, 2043, 2050, 2056, 2059,
    2065, 2071, 2075, 2080, 2084, 2089, 2095, 2102, 2109, 2116, 2123, 2127, 2131, 2136, 2142, 2148,
    2152, 2157, 2162, 2166, 2175, 2183, 2186, 2191, 2196, 2201, 2207, 2211, 2217, 2222, 2227, 2231,
    2236, 2242, 2247, 2252, 2257, 2262, 2266, 2272, 2277, 2280, 2295, 2302, 2308, 2316, 2322, 2326,
    2334, 2339, 2348, 2352, 2359, 2366, 2369, 2374, 2381, 2384, 2389, 2396, 2400, 2406, 2412, 2421,
    2424, 2428, 2434, 2440, 2443, 2449, 2457, 2463, 2467, 2472, 2478, 2484, 2490, 2496, 2503, 2510,
    2513, 2516, 2520, 2525, 2529, 2534, 2539, 2544, 2550, 2555, 2561, 2567, 2573, 2583, 2590, 2593,
    2601, 2604, 2611, 2615, 2622, 2629, 2633, 2639, 2645, 2654, 2660, 2671, 2678, 2681, 2685, 2691,
    2696, 2699, 2703, 2708, 2712, 2720, 2724, 2729, 2735, 2740, 2747, 2753, 2758, 2762, 2767, 2773,
    2779, 2784, 2790, 2795, 2801, 2807, 2814, 2821, 2824, 2830, 2834, 2840, 2845, 2851, 2854, 2857,
    2862, 2867, 2871, 2878, 2883, 2889, 2894, 2899, 2903, 2909, 2913, 2920, 2923, 2927, 2935, 2942,
    2948, 2953, 2960, 2964, 2969, 2978, 2988, 2992, 2998, 3004, 3009, 3013, 3018, 3024, 3028, 3035,
    3039, 3044, 3049, 3056, 3061, 3068, 3072, 3078, 3087, 3092, 3098, 3105, 3111, 3117, 3122, 3127,
    3132, 3137, 3143, 3150, 3154, 3157, 3162, 3168, 3174, 3179, 3182, 3187, 3193, 3200, 3205, 3211,
    3217, 3221, 3225, 3229, 3233, 3239, 3245, 3253, 3259, 3264, 3268, 3272, 3278, 3282, 3288, 3294,
    3299, 3305, 3312, 3316, 3321, 3324, 3328, 3335, 3340, 3346, 3350, 3357, 3364, 3368, 3374, 3378,
    3383, 3387, 3392, 3400, 3409, 3413, 3417, 3422, 3425, 3429, 3437, 3442, 3449, 3453, 3457, 3461,
    3465, 3469, 3473, 3477, 3482, 3487, 3492, 3499, 3507, 3515, 3520, 3525, 3533, 3541, 3551, 3560,
    3564, 3570, 3575, 3582, 3587, 3591, 3595, 3599, 3604, 3611, 3616, 3619, 3623, 3628, 3634, 3640,
    3646, 3649, 3654, 3657, 3661, 3668, 3676, 3682, 3686, 3689, 3695, 3698, 3706, 3710, 3716, 3723,
    3731, 3736, 3742, 3746, 3751, 3761, 3768, 3776, 3781, 3785, 3790, 3795, 3802, 3805, 3808, 3812,
    3819, 3823, 3828, 3832, 3837, 3840, 3844, 3848, 3854, 3862, 3868, 3872, 3875, 3879, 3883, 3888,
    3893, 3899, 3904, 3907, 3912, 3918, 3924, 3930, 3936, 3943, 3950, 3954, 3959, 3964, 3968, 3975,
    3981, 3989, 3998, 4002, 4006, 4012, 4017, 4027, 4033, 4040, 4048, 4056, 4061, 4067, 4072, 4080,
    4086, 4090, 4095, 4101, 4105, 4110, 4115, 4120, 4125, 4130, 4135, 4139, 4148, 4152, 4158, 4165,
    4169, 4174, 4181, 4188, 4196, 4204, 4208, 4212, 4216, 4222, 4225, 4230, 4236, 4241, 4247, 4255,
    4259, 4262, 4268, 4272, 4278, 4285, 4292, 4299, 4306, 4313, 4322, 4326, 4333, 4340, 4349, 4357,
    4364, 4373, 4381, 4389, 4394, 4399, 4403, 4409, 4415, 4421, 4428, 4435, 4440, 4446, 4454, 4462,
    4470, 4479, 4482, 4488, 4492, 4495, 4502, 4508, 4512, 4516, 4521, 4525, 4530, 4535, 4541, 4545,
    4548, 4553, 4562, 4565, 4568, 4572, 4577, 4582, 4590, 4594, 4598, 4604, 4608, 4612, 4616, 4620,
    4623, 4628, 4632, 4638, 4643, 4648, 4654, 4660, 4664, 4670, 4675, 4679, 4683, 4686, 4690, 4699,
    4703, 4708, 4712, 4718, 4723, 4731, 4736, 4742, 4749, 4754, 4761, 4765, 4772, 4778, 4785, 4789,
    4794, 4798, 4804, 4811, 4817, 4821, 4825, 4830, 4833, 4839, 4844, 4853, 4857, 4863, 4867, 4872,
    4878, 4884, 4890, 4900, 4908, 4915, 4919, 4924, 4931, 4937, 4942, 4948, 4952, 4956, 4960, 4966,
    4972, 4979, 4983, 4989, 4996, 5002, 5008, 5015, 5023, 5028, 5032, 5037, 5044, 5053, 5059, 5065,
    5069, 5075, 5081, 5085, 5091, 5096, 5101, 5105, 5110, 5116, 5123, 5126, 5131, 5137, 5144, 5151,
    5157, 5164, 5171, 5176, 5182, 5189, 5194, 5201, 5206, 5211, 5217, 5223, 5227, 5230, 5237, 5243,
    5247, 5252, 5257, 5261, 5267, 5272, 5279, 5286, 5292, 5297, 5303, 5312, 5316, 5324, 5332, 5336,
    5341, 5345, 5352, 5361, 5364, 5369, 5374, 5382, 5386, 5391, 5399, 5408, 5420, 5424, 5431, 5437,
    5440, 5446, 5451, 5455, 5461, 5467, 5473, 5477, 5484, 5488, 5494, 5499, 5505, 5511, 5517, 5521,
    5528, 5534, 5541, 5548, 5556, 5562, 5568, 5573, 5576, 5580, 5585, 5591, 5598, 5603, 5607, 5612,
    5618, 5625, 5632, 5637, 5644, 5648, 5654, 5659, 5666, 5671, 5676, 5683, 5686, 5691, 5697, 5701,
    5706, 5710, 5716, 5722, 5728, 5732, 5736, 5742, 5746, 5750, 5760, 5766, 5771, 5779, 5782, 5785,
    5793, 5799, 5805, 5809, 5814, 5820, 5824, 5830, 5834, 5840, 5844, 5849, 5857, 5864, 5869, 5873,
    5880, 5887, 5894, 5899, 5908, 5917, 5922, 5926, 5936, 5939, 5944, 5948, 5951, 5956, 5959, 5965,
    5968, 5973, 5979, 5984, 5989, 5996, 6001, 6009, 6014, 6019, 6026, 6030, 6035, 6043, 6049, 6054,
    6059, 6065, 6068, 6072, 6078, 6081, 6085, 6091, 6096, 6102, 6106, 6112, 6117, 6121, 6125, 6129,
    6134, 6139, 6143, 6146, 6154, 6158, 6161, 6165, 6170, 6174, 6180, 6183, 6187, 6193, 6199, 6204,
    6210, 6215, 6221, 6225, 6228, 6232, 6236, 6242, 6249, 6255, 6262, 6267, 6272, 6276, 6280, 6284,
    6289, 6293, 6296, 6302, 6307, 6313, 6318, 6324, 6331, 6335, 6343, 6348, 6353, 6361, 6366, 6374,
    6384, 6389, 6396, 6401, 6411, 6414, 6420, 6424, 6432, 6437, 6443, 6449, 6453, 6458, 6464, 6472,
    6480, 6490, 6498, 6502, 6509, 6516, 6526, 6532, 6540, 6544, 6550, 6556, 6561, 6570, 6577, 6586,
    6592, 6600, 6605, 6609, 6617, 6623, 6632, 6638, 6645, 6651, 6657, 6662, 6668, 6675, 6681, 6686,
    6691, 6696, 6704, 6709, 6716, 6720, 6730, 6736, 6742, 6747, 6750, 6756, 6766, 6771, 6779, 6785,
    6791, 6800, 6810, 6816, 6823, 6830, 6838, 6845, 6852, 6859, 6867, 6871, 6876, 6883, 6890, 6898,
    6905, 6912, 6918, 6923, 6930, 6937, 6944, 6951, 6955, 6961, 6968, 6975, 6980, 6985, 6988, 6994,
    7004, 7007, 7014, 7021, 7026, 7030, 7036, 7042, 7047, 7055, 7061, 7065, 7068, 7072, 7080, 7086,
    7090, 7097, 7102, 7108, 7115, 7122, 7127, 7133, 7140, 7145, 7149, 7156, 7160, 7166, 7170, 7175,
    7182, 7188, 7195, 7199, 7203, 7213, 7218, 7224, 7228, 7235, 7240, 7243, 7247, 7253, 7258, 7264,
    7269, 7273, 7281, 7285, 7290, 7297, 7305, 7312, 7316, 7320, 7325, 7331, 7336, 7342, 7348, 7354,
    7361, 7365, 7371, 7376, 7383, 7387, 7392, 7398, 7405, 7410, 7413, 7420, 7426, 7432, 7439, 7446,
    7451, 7458, 7463, 7470, 7475, 7479, 7484, 7490, 7497, 7505, 7509, 7517, 7522, 7528, 7534, 7539,
    7545, 7551, 7556, 7562, 7568, 7574, 7580, 7586, 7592, 7599, 7607, 7610, 7614, 7619, 7623, 7628,
    7632, 7636, 7641, 7647, 7653, 7658, 7662, 7666, 7670, 7675, 7680, 7686, 7692, 7698, 7706, 7716,
    7728, 7733, 7737, 7744, 7748, 7754, 7758, 7762, 7765, 7769, 7774, 7778, 7786, 7792, 7798, 7805,
    7809, 7814, 7819, 7823, 7832, 7840, 7846, 7858, 7863, 7866, 7871, 7877, 7882, 7889, 7893, 7897,
    7902, 7908, 7912, 7916, 7922, 7926, 7934, 7938, 7943, 7948, 7952, 7958, 7963, 7968, 7974, 7980,
    7985, 7990, 7998, 8001, 8007, 8014, 8022, 8026, 8031, 8034, 8040, 8045, 8050, 8056, 8061, 8067,
    8072, 8079, 8083, 8087, 8093, 8097, 8101, 8105, 8110, 8118, 8123, 8128, 8134, 8141, 8151, 8157,
    8161, 8166, 8174, 8180, 8186, 8189, 8193, 8198, 8202, 8209, 8215, 8221, 8227, 8233, 8239, 8242,
    8247, 8253, 8257, 8262, 8269, 8277, 8284, 8290, 8295, 8300, 8306, 8311, 8319, 8322, 8326, 8329,
    8333, 8336, 8340, 8344, 8349, 8355, 8359, 8364, 8368, 8373, 8378, 8382, 8389, 8397, 8403, 8408,
    8411, 8415, 8418, 8425, 8431, 8434, 8439, 8444, 8450, 8453, 8457, 8460, 8465, 8470, 8474, 8479,
    8483, 8490, 8495, 8504, 8508, 8514, 8521, 8525, 8530, 8538, 8546, 8552, 8555, 8559, 8564, 8569,
    8573, 8581, 8588, 8595, 8600, 8611, 8616, 8621, 8625, 8628, 8632, 8636, 8641, 8647, 8654, 8660,
    8664, 8670, 8677, 8684, 8691, 8699, 8705, 8712, 8716, 8722, 8730, 8735, 8740, 8747, 8756, 8762,
    8767, 8771, 8775, 8780, 8788, 8792, 8798, 8802, 8808, 8813, 8816, 8821, 8827, 8833, 8839, 8845,
    8851, 8857, 8861, 8867, 8874, 8883, 8892, 8897, 8905, 8913, 8920, 8927, 8932, 8940, 8944, 8950,
    8956, 8960, 8965, 8969, 8972, 8977, 8982, 8990, 9000, 9004, 9011, 9019, 9027, 9035, 9043, 9048,
    9054, 9058, 9062, 9068, 9076, 9081, 9085, 9090, 9097, 9102, 9109, 9114, 9119, 9125, 9131, 9137,
    9141, 9146, 9152, 9156, 9160, 9167, 9173, 9177, 9182, 9187, 9191, 9196, 9201, 9207, 9210, 9217,
    9223, 9229, 9235, 9242, 9248, 9254, 9259, 9270, 9280, 9286, 9292, 9299, 9308, 9316, 9319, 9329,
    9334, 9337, 9341, 9347, 9351, 9356, 9359, 9363, 9369, 9373, 9377, 9380, 9385, 9391, 9396, 9400,
    9405, 9408, 9414, 9421, 9430, 9438, 9447, 9451, 9454, 9461, 9466, 9470, 9474, 9483, 9486, 9493,
    9497, 9500, 9505, 9514, 9517, 9520, 9524, 9528, 9532, 9541, 9548, 9554, 9560, 9565, 9569, 9573,
    9577, 9586, 9593, 9600, 9606, 9612, 9619, 9625, 9630, 9636, 9643, 9653, 9656, 9660, 9665, 9669,
    9673, 9679, 9683, 9687, 9691, 9700, 9709, 9716, 9725, 9734, 9745, 9756, 9759, 9768, 9777, 9782,
    9789, 9798, 9809, 9818, 9827, 9838, 9845, 9856, 9861, 9868, 9875, 9886, 9893, 9902, 9913, 9926,
    9939, 9942, 9947, 9956, 9969, 9982, 9991, 9998, 10007, 10016, 10021, 10028, 10033, 10042,
    10047, 10054, 10061, 10068, 10081, 10098, 10107, 10112, 10115, 10120, 10129, 10138, 10149,
    10158, 10165, 10172, 10185, 10194, 10203, 10210, 10219, 10228, 10235, 10242, 10249, 10254,
    10261, 10268, 10277, 10286, 10293, 10302, 10313, 10318, 10323, 10330, 10337, 10342, 10349,
    10354, 10361, 10368, 10377, 10384, 10393, 10404, 10409, 10416, 10425, 10434, 10443, 10450,
    10459, 10466, 10473, 10482, 10485, 10492, 10503, 10514, 10525, 10530, 10537, 10546, 10555,
    10564, 10573, 10576, 10583, 10590, 10597, 10606, 10615, 10628, 10637, 10642, 10649, 10656,
    10667, 10676, 10681, 10688, 10693, 10702, 10709, 10714, 10727, 10740, 10753, 10766, 10773,
    10778, 10783, 10790, 10799, 10808, 10815, 10820, 10825, 10830, 10841, 10852, 10855, 10860,
    10867, 10872, 10885, 10910, 10935, 10940, 10943, 10950, 10961, 10972, 10983, 10994, 11005,
    11016, 11021, 11032, 11047, 11064, 11079, 11094, 11109, 11124, 11139, 11154, 11169, 11180,
    11187, 11192, 11201, 11210, 11221, 11230, 11237, 11250, 11261, 11272, 11285, 11296, 11303,
    11308, 11313, 11320, 11329, 11346, 11353, 11360, 11365, 11374, 11381, 11388, 11407, 11420,
    11427, 11434, 11439, 11444, 11455, 11458, 11463, 11472, 11485, 11490, 11497, 11504, 11511,
    11516, 11521, 11528, 11539, 11552, 11565, 11580, 11587, 11600, 11603, 11610, 11625, 11640,
    11653, 11664, 11669, 11676, 11687, 11698, 11709, 11722, 11733, 11740, 11747, 11760, 11765,
    11776, 11785, 11794, 11807, 11814, 11821, 11828, 11833, 11840, 11843, 11850, 11859, 11866,
    11873, 11884, 11891, 11902, 11909, 11916, 11923, 11934, 11943, 11952, 11961, 11968,
};
static const uint32_t common_languages[] = {
    1024, 8, 8192, 512, 512, 8, 1, 4098, 131072, 16384, 16384, 16384, 16384, 16384, 16384, 16384,
    16384, 16384, 16384, 16384, 1024, 8192, 16384, 512, 32, 1028, 128, 1, 256, 32, 17024, 16384,
    64, 8192, 128, 256, 256, 17952, 256, 4096, 512, 512, 20482, 32, 8192, 8192, 8192, 32, 32, 32,
    32, 8192, 32, 513, 66048, 3596, 1024, 8, 8, 8, 1032, 512, 128, 1032, 9, 16385, 16384, 512, 512,
    512, 512, 16384, 16384, 8192, 16393, 131072, 256, 256, 256, 256, 256, 9, 131072, 512, 512, 1,
    1024, 8, 1024, 4, 2, 256, 2, 8224, 1, 8192, 8192, 8192, 16384, 512, 128, 8192, 8192, 8192,
    8192, 32, 16384, 16385, 1, 256, 8321, 131072, 8192, 16384, 32, 2053, 65536, 16384, 8192, 16512,
    8, 128, 128, 8, 8, 128, 128, 67584, 128, 16384, 128, 512, 128, 16384, 128, 131072, 131328, 256,
    256, 256, 256, 32, 16384, 65536, 4096, 2049, 131072, 257, 1, 1, 1, 8, 8, 1, 131072, 131072,
    131072, 131072, 256, 8, 8, 4098, 128, 1024, 1024, 9, 1024, 131072, 131072, 131072, 8, 512, 8,
    131072, 65536, 2048, 65540, 67584, 67584, 4, 4, 4096, 1, 1024, 4, 4, 4, 2048, 2048, 131072, 2,
    2, 131072, 131072, 131072, 131072, 131072, 1, 4099, 2, 2, 2, 2, 4096, 4096, 4096, 4096, 4096,
    8, 256, 131072, 131072, 2, 4096, 4096, 16384, 8224, 1, 129, 16385, 32, 8192, 16512, 16384,
    16384, 16384, 128, 16384, 128, 128, 128, 128, 4096, 2, 512, 512, 4096, 4736, 512, 16384, 512,
    4096, 4099, 512, 513, 8193, 128, 513, 128, 129, 8224, 512, 544, 16385, 512, 8192, 512, 512, 1,
    256, 16384, 32, 32, 32, 32, 512, 8192, 16384, 32, 32, 32, 32, 32, 32, 32, 32, 4096, 4096,
    16384, 16384, 16384, 16384, 32, 16384, 16384, 158220, 1024, 1024, 1024, 16384, 8, 8, 512,
    131072, 8, 512, 512, 512, 512, 512, 512, 2, 2, 8, 1024, 8, 128, 16384, 8, 8200, 8, 1024, 8, 8,
    225188, 16384, 32, 32, 16384, 16384, 131072, 2048, 512, 512, 544, 512, 512, 512, 512, 65544,
    67596, 8, 65536, 2048, 4, 512, 8192, 128, 3084, 65536, 2048, 8, 8, 2052, 1160, 8224, 16384, 32,
    65536, 8, 8192, 8192, 8192, 67588, 4, 65536, 2048, 128, 8704, 8192, 8192, 512, 1024, 131072,
    16384, 512, 32, 32, 1, 1, 1032, 9, 8, 8, 8, 8, 8, 65540, 81924, 65536, 2048, 8192, 1024, 65536,
    131072, 4096, 4096, 4096, 12291, 16384, 8, 1, 1, 5, 1, 8192, 128, 1, 128, 32, 128, 1025, 512,
    8, 8224, 16384, 512, 67724, 16384, 512, 16384, 8736, 8, 1024, 4096, 65536, 65536, 65536, 128,
    32, 16384, 1, 1024, 512, 131072, 131072, 1024, 1024, 65540, 65536, 1, 256, 256, 256, 16448,
    1024, 8, 64, 8, 8, 8, 8, 8, 8, 8, 64, 65536, 16672, 8192, 8192, 24576, 8192, 1024, 32, 32, 128,
    67588, 128, 32, 256, 256, 8192, 32, 199844, 128, 5, 2048, 1024, 2048, 256, 64, 32, 8352, 8192,
    8192, 68620, 8736, 512, 256, 168, 32, 32, 32, 256, 32, 8704, 8192, 8192, 512, 8192, 512, 128,
    8224, 8224, 8224, 24608, 8192, 32, 32, 8224, 32, 8192, 2180, 131072, 65536, 64, 8, 8, 24576,
    256, 256, 256, 256, 256, 128, 9, 512, 128, 8192, 8192, 256, 8, 16384, 16384, 16384, 4, 65536,
    512, 16384, 8192, 128, 8, 8, 2053, 8192, 2052, 16384, 2564, 1, 65536, 32, 32, 65536, 65536,
    65536, 2048, 8, 16384, 4096, 4096, 1024, 1024, 8, 1024, 65536, 131072, 131072, 8, 1, 512, 2048,
    2048, 512, 4097, 65536, 65536, 131072, 4, 68384, 1024, 8, 32, 32, 32, 32, 1025, 512, 5, 67588,
    256, 131072, 131072, 512, 65540, 67588, 1, 32, 8, 8, 4, 1, 8192, 1, 32, 32, 65, 1024, 1024,
    1024, 1024, 132096, 4, 65536, 131072, 131072, 131073, 1, 1024, 1032, 8, 1024, 1024, 1, 131072,
    514, 1024, 1024, 256, 256, 256, 65536, 65536, 1, 3076, 65536, 2048, 4, 2052, 2052, 2052, 2052,
    4, 2052, 2052, 2052, 2052, 2052, 4, 8192, 256, 64, 64, 65536, 16384, 4104, 128, 65536, 1024,
    1024, 1, 8, 8, 8, 8, 8, 1024, 2052, 640, 135168, 131072, 256, 64, 128, 4104, 8, 67081, 32, 4,
    8, 1024, 512, 65536, 67588, 2048, 4096, 8, 4096, 512, 65536, 9, 65536, 1, 512, 513, 1281,
    131072, 256, 1, 8192, 8, 8192, 1, 1, 256, 131072, 131072, 131072, 4096, 4168, 65536, 4098,
    4096, 4096, 4096, 4098, 5250, 8, 8, 8, 8, 8, 4096, 8, 2052, 4096, 2, 4096, 2, 2, 2, 256, 2, 4,
    4, 4096, 2, 8, 4096, 2, 4096, 2, 64, 64, 64, 64, 64, 64, 64, 1024, 1024, 2, 2, 2, 1, 4096,
    8194, 64, 2, 131072, 64, 68612, 8, 64, 4096, 2, 2, 2, 2, 2, 2, 2, 8, 8, 256, 131072, 131072,
    131072, 131328, 4096, 131072, 2, 65536, 2, 2, 2, 2, 2, 4096, 4096, 4096, 4096, 4096, 4096,
    4096, 4096, 4096, 64, 64, 64, 65536, 65536, 2052, 1024, 64, 1024, 64, 256, 8, 8, 256, 17056, 8,
    32, 17312, 256, 256, 512, 160, 256, 1, 256, 128, 128, 8192, 16384, 4, 64, 1, 544, 16384, 512,
    128, 128, 32, 4096, 32, 17024, 2, 128, 8192, 4994, 1024, 16384, 8192, 8320, 256, 4096, 1024,
    67596, 2052, 1, 8192, 1, 9441, 67588, 32, 1024, 1024, 256, 2052, 8, 8, 8, 32, 2048, 256, 256,
    68613, 256, 8224, 512, 65536, 256, 128, 8192, 8192, 8192, 1024, 8192, 2, 148258, 256, 8, 32,
    65540, 1, 1024, 1024, 256, 64, 64, 64, 64, 256, 65541, 257, 256, 8192, 256, 64, 512, 8, 32, 32,
    32, 64, 268, 64, 64, 64, 256, 256, 4096, 4096, 5, 1024, 1024, 1024, 4096, 2, 128, 512, 512,
    128, 64, 1, 257, 67584, 4096, 4096, 4096, 135170, 1, 32, 32, 8192, 8192, 8192, 64, 16384,
    16384, 16384, 4096, 4096, 8, 1, 2, 64, 32, 4097, 65536, 64, 2, 256, 32, 2052, 4, 65536, 65536,
    65536, 2048, 256, 128, 8, 131072, 8, 8, 2, 2, 131072, 2, 2, 13314, 1024, 8, 8, 4098, 32, 4096,
    1024, 2, 12288, 131072, 4096, 148352, 8, 2, 4, 131072, 131072, 512, 512, 2, 512, 131072, 512,
    512, 512, 512, 8448, 8192, 2, 131072, 512, 512, 8192, 8192, 2, 65568, 4098, 4098, 8, 8, 16384,
    4096, 1024, 1024, 1024, 64, 64, 64, 4096, 256, 131072, 131072, 4096, 4096, 16384, 8737, 8,
    1024, 2048, 2052, 1024, 4, 4, 4, 512, 641, 1024, 8352, 1, 128, 128, 128, 128, 4096, 82948, 32,
    32, 32, 8193, 8192, 16384, 8, 8192, 8, 2, 64, 8192, 64, 64, 65536, 2048, 65536, 65536, 65536,
    2052, 256, 256, 8192, 2, 2, 8, 8, 65536, 4098, 8, 1025, 1024, 2052, 512, 2052, 8, 131072,
    131072, 131072, 131072, 64, 64, 64, 64, 64, 131072, 512, 131072, 131072, 256, 68612, 64, 1024,
    4291, 135170, 131072, 8192, 1024, 4098, 131072, 1, 1024, 128, 131072, 131072, 1024, 1024, 1028,
    1024, 2048, 16385, 512, 4096, 16384, 16384, 8196, 67584, 512, 1, 32, 32, 32, 32, 256, 8320, 1,
    1, 8192, 8192, 8192, 8192, 64, 3077, 128, 2, 128, 8224, 128, 16384, 256, 8192, 8192, 8192,
    8192, 16384, 1537, 512, 32, 128, 128, 128, 64, 512, 512, 1, 129, 128, 4098, 16384, 4099, 4096,
    8192, 8192, 8224, 512, 8192, 2, 2, 4096, 4096, 4096, 8224, 8224, 8192, 512, 8192, 512, 16385,
    2, 8192, 128, 128, 128, 4096, 512, 32, 16384, 3, 512, 3, 2, 2, 2, 4096, 4096, 4096, 32, 32, 32,
    32, 128, 513, 16384, 512, 16384, 67588, 256, 8192, 2, 2, 128, 8192, 8192, 8704, 512, 512, 512,
    8192, 512, 128, 8704, 8704, 8192, 512, 512, 8704, 8192, 8352, 128, 512, 640, 128, 512, 512,
    128, 8192, 512, 512, 512, 512, 128, 32, 512, 32, 128, 32, 1, 1024, 4096, 16512, 131072, 256,
    16385, 4096, 1024, 131072, 128, 512, 512, 16384, 25314, 33, 512, 65536, 2048, 32, 8, 8, 8, 8,
    8, 64, 8, 2052, 8448, 8704, 64, 512, 8224, 128, 128, 8224, 8192, 128, 8192, 128, 8192, 1, 1, 1,
    1, 674, 512, 512, 8, 2052, 8224, 8, 32, 65540, 64, 64, 64, 64, 8192, 67620, 8, 1024, 32, 128,
    64, 64, 64, 131072, 131072, 4096, 65536, 65536, 2052, 65536, 67588, 2048, 9, 8, 4096, 8224, 8,
    8, 128, 8, 8, 8, 544, 67588, 1, 8, 128, 1024, 160, 8, 512, 131072, 8, 128, 512, 512, 128, 8,
    512, 513, 512, 512, 8, 1024, 2, 16928, 8704, 8192, 16385, 1, 512, 512, 512, 512, 512, 16384,
    512, 128, 32, 2, 2, 2, 4096, 4096, 256, 256, 256, 8192, 65536, 65540, 8192, 32, 16384, 4096,
    4226, 64, 8192, 4098, 2, 2, 2, 4096, 8224, 512, 512, 4098, 32, 8192, 8736, 131072, 2, 30178, 2,
    1024, 4096, 256, 4096, 129, 1, 128, 8192, 4099, 2, 8192, 1024, 128, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 256, 32, 32, 1024, 2052, 65536, 4099, 16384, 1024, 8224, 8224, 8225, 8224, 1024, 2, 128,
    2, 2, 128, 1, 17408, 2, 16384, 128, 128, 128, 128, 256, 16384, 512, 32, 16384, 8, 128, 21154,
    256, 8192, 32, 1024, 512, 512, 512, 512, 4096, 4098, 4096, 4096, 4096, 4096, 64, 64, 64, 2,
    8192, 2, 256, 131072, 2, 4, 1024, 8200, 8192, 17056, 16928, 8, 16384, 67589, 128, 16384, 544,
    16384, 32, 8, 8, 8, 8, 16384, 1, 65536, 1, 8192, 32, 67584, 65536, 2048, 256, 1024, 2, 16384,
    1024, 64, 65536, 256, 64, 64, 64, 256, 1280, 1024, 256, 198661, 65536, 131072, 65536, 2,
    131075, 2052, 1024, 256, 65536, 512, 1024, 512, 128, 1024, 1, 131072, 8224, 68100, 1025, 65536,
    8, 8, 64, 512, 2052, 65536, 65536, 65536, 256, 256, 8192, 8192, 64, 128, 64, 128, 64, 64, 1024,
    256, 256, 8, 8, 1024, 1024, 16392, 4, 128, 128, 128, 2, 2, 2, 65536, 2048, 65536, 2052, 2048,
    16384, 2, 2, 2, 2, 1024, 1024, 1024, 1024, 1024, 8, 1024, 9, 1024, 8, 1033, 1, 1024, 5121,
    1024, 8, 8, 8, 1024, 8, 8, 8, 8, 8, 1024, 1024, 8, 8, 8, 8, 8, 8, 1024, 1032, 1, 8, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1032, 8, 8, 1024, 1, 1024, 8, 8, 1, 4096, 8, 8, 8, 8, 8, 1032, 1024, 1, 8, 4096,
    4096, 4096, 8, 8, 8, 4096, 131104, 131072, 131072, 32, 131072, 131072, 1, 1, 4098, 1024,
    131072, 2, 2, 5122, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 4096, 4096, 4096, 1024, 8,
    1024, 1024, 8, 8, 8, 8320, 256, 65536, 2048, 131072, 131072, 512, 8192, 32, 256, 256, 128, 128,
    128, 128, 256, 16384, 16384, 16384, 16384, 16384, 16384, 16384, 131072, 256, 65536, 256, 8,
    131072, 131072, 256, 256, 131072, 131072, 4096, 4096, 2, 16384, 16384, 16, 16, 16, 16, 16, 16,
    16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16,
    16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16,
    16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16,
    16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 32768, 32768,
    32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768,
    32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768,
    32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768,
    32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768,
    32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768,
    32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768,
    32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768,
    32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768,
    32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768,
    32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768,
    32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768,
    32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768,
    32768, 32768, 32768, 32768, 32768, 32768, 32768,
};

/* By hash: the number of a word and one, or 0. */
static const uint16_t common_slots[COMMON_SLOTS] = {
    0, 0, 0, 0, 304, 0, 790, 0, 1422, 1793, 1003, 0, 0, 0, 0, 0, 1451, 850, 1255, 1380, 0, 0, 0,
    1112, 505, 976, 0, 0, 0, 0, 0, 322, 0, 780, 0, 0, 0, 115, 872, 968, 305, 880, 804, 0, 1185, 0,
    445, 0, 0, 0, 0, 230, 0, 0, 1703, 616, 1873, 1930, 0, 1097, 210, 975, 182, 0, 470, 417, 0, 0,
    0, 0, 1478, 1098, 1951, 0, 478, 0, 0, 95, 1082, 0, 0, 0, 603, 0, 0, 1139, 715, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 400, 0, 0, 0, 1537, 0, 0, 1306, 0, 0, 0, 819, 812, 0, 1516, 1658, 0, 485, 1014,
    0, 539, 19, 655, 1277, 0, 0, 0, 179, 0, 0, 0, 148, 0, 0, 728, 0, 1335, 0, 0, 0, 1993, 1346,
    1201, 0, 111, 0, 509, 0, 169, 0, 414, 0, 42, 0, 0, 0, 0, 0, 0, 1667, 1852, 0, 1763, 0, 0, 0,
    583, 1565, 783, 0, 1496, 119, 0, 0, 0, 308, 0, 0, 0, 0, 235, 604, 1653, 0, 0, 0, 0, 0, 0, 0, 0,
    188, 0, 0, 43, 161, 1102, 0, 0, 0, 879, 0, 343, 0, 1020, 1982, 159, 613, 824, 1546, 0, 1373, 0,
    0, 0, 0, 635, 0, 37, 0, 127, 441, 765, 241, 1006, 1665, 1111, 1157, 238, 1247, 1257, 1881,
    1896, 1983, 1179, 1284, 0, 0, 122, 1813, 0, 513, 1834, 0, 1290, 0, 0, 1359, 1950, 0, 0, 0, 845,
    678, 637, 1949, 0, 0, 0, 186, 0, 0, 0, 0, 0, 372, 1039, 1481, 0, 679, 915, 1871, 0, 0, 0, 507,
    0, 634, 278, 421, 477, 1678, 1731, 0, 1280, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 422, 941,
    0, 0, 1624, 1315, 1493, 0, 0, 0, 874, 380, 917, 1174, 233, 1441, 283, 1844, 0, 0, 1237, 962, 0,
    0, 0, 410, 360, 0, 1258, 657, 1234, 985, 0, 0, 0, 253, 0, 0, 0, 0, 0, 68, 232, 75, 0, 0, 0, 0,
    1186, 0, 0, 0, 87, 1734, 1956, 0, 1572, 746, 1604, 0, 0, 261, 1692, 0, 0, 0, 0, 0, 1508, 0,
    227, 274, 339, 672, 1456, 1435, 1495, 0, 0, 922, 0, 1916, 0, 0, 0, 0, 1265, 0, 0, 0, 252, 1334,
    1341, 491, 843, 1840, 0, 0, 0, 600, 1207, 1616, 0, 855, 792, 0, 0, 0, 0, 0, 1043, 0, 99, 1077,
    0, 0, 799, 1411, 362, 998, 1898, 1912, 1795, 1797, 1862, 515, 1638, 1946, 0, 77, 1256, 0, 618,
    0, 0, 0, 1013, 0, 0, 0, 0, 0, 76, 88, 0, 0, 1148, 67, 1095, 1821, 0, 0, 139, 601, 1075, 0, 0,
    0, 1632, 0, 1689, 0, 0, 0, 0, 0, 605, 0, 0, 0, 970, 838, 0, 1240, 1430, 0, 0, 1712, 1395, 1184,
    0, 0, 0, 0, 916, 520, 406, 0, 412, 1838, 0, 0, 0, 0, 0, 0, 0, 1159, 1372, 675, 1171, 0, 1600,
    0, 614, 814, 131, 0, 0, 0, 291, 0, 0, 0, 777, 0, 0, 1401, 0, 0, 0, 1079, 320, 0, 0, 0, 535, 0,
    620, 0, 0, 1131, 172, 1087, 404, 1644, 1760, 0, 0, 0, 0, 0, 0, 0, 1417, 0, 0, 0, 0, 1851, 0,
    427, 1802, 1748, 0, 0, 0, 0, 1660, 1882, 0, 1568, 0, 0, 1474, 1168, 0, 0, 0, 1766, 290, 719,
    806, 0, 1811, 504, 1289, 647, 7, 44, 81, 27, 310, 317, 355, 914, 1137, 1377, 1809, 747, 1889,
    0, 0, 0, 0, 1145, 0, 0, 0, 1037, 0, 0, 0, 0, 0, 0, 0, 0, 237, 1475, 0, 0, 0, 0, 137, 0, 448,
    221, 531, 390, 1740, 12, 416, 670, 973, 1177, 1830, 561, 385, 1887, 1151, 707, 0, 1696, 0,
    1034, 1468, 1876, 0, 0, 0, 656, 0, 0, 1156, 193, 1091, 905, 1208, 1424, 1457, 181, 0, 0, 0, 0,
    1260, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 795, 1902, 0, 0, 0, 0, 145, 902, 1316, 0, 0, 0, 1609, 0, 0,
    86, 659, 1796, 0, 997, 1222, 1326, 751, 1651, 0, 1291, 1695, 0, 167, 920, 1064, 0, 0, 1828,
    1465, 0, 1579, 175, 673, 0, 1622, 0, 0, 0, 150, 386, 1519, 1976, 1860, 0, 0, 0, 134, 1775, 0,
    94, 821, 1584, 1677, 0, 0, 0, 0, 0, 0, 0, 0, 793, 0, 293, 0, 246, 0, 281, 642, 573, 1050, 1181,
    1453, 82, 1192, 1578, 516, 1877, 1538, 0, 0, 384, 0, 0, 0, 0, 1574, 135, 211, 1170, 1317, 1348,
    0, 103, 0, 0, 0, 0, 1147, 1436, 0, 0, 345, 0, 0, 0, 0, 0, 700, 1861, 264, 165, 0, 0, 0, 1791,
    0, 1542, 0, 0, 0, 0, 680, 0, 109, 0, 381, 1218, 0, 0, 1608, 0, 1104, 1541, 0, 0, 0, 33, 0, 825,
    936, 0, 1642, 1416, 1812, 1941, 536, 1987, 0, 1619, 0, 0, 0, 0, 0, 1635, 1124, 5, 0, 0, 160,
    1501, 1592, 1804, 0, 0, 98, 0, 1076, 0, 0, 0, 0, 0, 0, 0, 1015, 297, 1477, 0, 0, 242, 459, 0,
    584, 0, 0, 0, 1189, 1637, 149, 1518, 0, 0, 0, 0, 0, 1913, 1539, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    1977, 1549, 0, 0, 0, 0, 0, 832, 1978, 0, 0, 0, 1473, 1798, 1141, 1963, 1965, 0, 1110, 0, 0,
    1370, 1772, 0, 1597, 1307, 0, 428, 759, 0, 0, 1915, 0, 800, 977, 534, 551, 0, 0, 0, 0, 0, 399,
    481, 1765, 0, 0, 0, 1594, 0, 0, 0, 0, 0, 1093, 0, 72, 1721, 473, 709, 1534, 1385, 378, 0, 0, 0,
    0, 0, 0, 493, 0, 0, 0, 596, 944, 1387, 403, 1285, 1558, 0, 0, 1657, 927, 1589, 1129, 738, 1191,
    891, 1895, 1908, 0, 706, 0, 0, 0, 0, 1863, 0, 180, 288, 1253, 0, 0, 911, 1354, 0, 0, 1674,
    1989, 0, 0, 0, 0, 0, 0, 0, 863, 755, 0, 643, 282, 724, 1205, 829, 805, 0, 0, 0, 0, 0, 29, 1856,
    1000, 0, 1074, 0, 0, 0, 462, 0, 9, 648, 591, 810, 967, 1169, 907, 0, 0, 0, 0, 395, 0, 490, 243,
    0, 0, 0, 704, 1535, 1527, 0, 341, 582, 692, 0, 0, 472, 1517, 0, 1321, 1824, 721, 981, 1800,
    904, 1879, 1122, 835, 0, 0, 0, 314, 0, 0, 0, 1024, 0, 773, 969, 0, 113, 0, 1925, 1626, 0, 0, 0,
    0, 51, 0, 1261, 1890, 856, 0, 0, 0, 1743, 0, 0, 0, 0, 194, 0, 0, 367, 1819, 1886, 257, 456,
    216, 189, 0, 0, 108, 465, 1782, 0, 0, 0, 0, 1410, 0, 0, 0, 1628, 1248, 0, 831, 1355, 0, 250, 0,
    837, 0, 0, 1244, 1513, 0, 756, 0, 0, 763, 1028, 1891, 0, 1044, 0, 0, 0, 245, 0, 0, 0, 0, 0, 0,
    1165, 96, 393, 565, 0, 277, 0, 0, 0, 48, 217, 0, 0, 0, 368, 0, 0, 1089, 1590, 0, 1738, 0, 0,
    1661, 0, 73, 1893, 0, 0, 0, 0, 409, 0, 0, 0, 619, 1894, 0, 1081, 0, 0, 0, 1751, 0, 1119, 589,
    737, 492, 903, 1080, 1203, 1031, 0, 1376, 1825, 1829, 538, 1927, 1313, 342, 0, 0, 1212, 1476,
    0, 70, 279, 0, 974, 0, 0, 55, 0, 0, 1903, 826, 0, 0, 0, 966, 1566, 0, 0, 1163, 0, 295, 0, 1720,
    0, 0, 0, 532, 0, 0, 0, 0, 0, 0, 0, 265, 0, 1780, 0, 0, 0, 0, 0, 0, 1892, 1923, 0, 955, 0, 0, 0,
    0, 0, 899, 366, 566, 1883, 0, 1685, 258, 687, 0, 0, 0, 0, 157, 772, 1482, 158, 1615, 1426,
    1423, 1820, 0, 1666, 953, 0, 0, 89, 1646, 1396, 1676, 15, 1673, 1836, 1172, 0, 11, 1577, 0, 0,
    0, 0, 897, 630, 901, 1920, 739, 1230, 1543, 1627, 764, 0, 0, 971, 0, 0, 0, 57, 818, 0, 0, 1726,
    0, 0, 0, 1454, 1286, 0, 269, 1570, 0, 621, 0, 0, 1529, 0, 0, 0, 553, 708, 1194, 1752, 0, 369,
    933, 1167, 0, 1404, 1974, 0, 0, 0, 689, 0, 945, 0, 0, 0, 0, 0, 0, 433, 1245, 0, 0, 0, 0, 0,
    885, 1434, 0, 0, 0, 374, 1421, 1358, 0, 1826, 0, 0, 0, 0, 0, 0, 0, 749, 1928, 0, 0, 0, 0, 0,
    14, 741, 1196, 408, 1283, 846, 1345, 0, 0, 0, 1870, 1132, 830, 923, 0, 332, 0, 379, 0, 651,
    118, 318, 446, 0, 533, 116, 1268, 464, 0, 347, 1962, 430, 720, 1294, 0, 0, 0, 1303, 0, 0, 363,
    1142, 0, 0, 0, 1992, 1342, 377, 0, 452, 1371, 0, 1586, 0, 287, 101, 299, 0, 0, 466, 0, 1571, 3,
    952, 987, 1088, 1620, 0, 690, 0, 0, 0, 546, 0, 0, 0, 1206, 1399, 0, 562, 1717, 346, 1274, 1621,
    0, 450, 0, 1239, 0, 1936, 0, 2, 607, 424, 1533, 545, 982, 0, 517, 326, 1084, 0, 0, 671, 0, 0,
    0, 1349, 0, 0, 0, 0, 0, 1532, 0, 938, 0, 266, 665, 0, 0, 0, 0, 0, 0, 469, 701, 0, 0, 1446, 0,
    0, 0, 0, 0, 0, 90, 0, 0, 0, 226, 1029, 195, 931, 1066, 711, 1356, 1690, 1967, 0, 475, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 782, 1056, 0, 0, 1827, 1955, 910, 873, 889, 0, 0, 1176, 0, 1769, 0,
    323, 294, 636, 0, 0, 1512, 0, 0, 1710, 518, 0, 0, 1369, 0, 0, 0, 0, 0, 0, 0, 1679, 0, 426, 0,
    1308, 768, 1580, 1715, 770, 1991, 0, 0, 0, 622, 1390, 0, 1605, 1617, 423, 0, 0, 1547, 0, 769,
    0, 0, 511, 0, 0, 663, 0, 23, 980, 1683, 1756, 1521, 1940, 1986, 0, 0, 0, 0, 0, 1125, 0, 0, 364,
    1588, 0, 0, 0, 74, 0, 0, 0, 0, 0, 779, 925, 1187, 1338, 577, 0, 0, 0, 1154, 1741, 1954, 0, 0,
    0, 0, 0, 0, 0, 884, 0, 0, 1126, 0, 0, 0, 0, 0, 999, 0, 1606, 1209, 0, 0, 0, 0, 0, 1146, 0, 0,
    0, 1807, 1975, 0, 0, 0, 0, 1162, 0, 0, 676, 0, 0, 0, 1576, 0, 0, 0, 0, 0, 0, 0, 156, 1567,
    1668, 0, 0, 0, 1363, 0, 0, 0, 1271, 1552, 0, 0, 0, 0, 0, 0, 597, 0, 0, 0, 0, 1058, 649, 1732,
    1900, 0, 1325, 0, 735, 64, 0, 0, 0, 0, 529, 0, 0, 371, 0, 0, 0, 1968, 1964, 0, 498, 0, 0, 0, 0,
    0, 1713, 0, 0, 41, 681, 1682, 0, 0, 0, 1684, 0, 0, 0, 0, 0, 0, 542, 524, 0, 133, 46, 256, 1835,
    1323, 1867, 1506, 437, 1952, 0, 0, 0, 817, 0, 506, 0, 0, 1910, 959, 1633, 0, 0, 0, 521, 0, 0,
    0, 1038, 0, 440, 1691, 0, 1848, 0, 0, 0, 1382, 0, 1005, 0, 0, 0, 35, 120, 91, 1942, 0, 0, 0, 0,
    682, 1762, 0, 667, 0, 1344, 402, 487, 1035, 136, 549, 875, 528, 1699, 376, 1550, 1716, 1909, 0,
    0, 0, 0, 1865, 0, 0, 155, 527, 743, 0, 494, 943, 1945, 0, 1548, 0, 0, 1582, 0, 0, 0, 564, 0,
    1022, 1675, 697, 1402, 543, 65, 0, 0, 0, 0, 0, 1839, 0, 1868, 0, 0, 575, 0, 0, 0, 0, 13, 0, 0,
    1948, 1846, 0, 0, 0, 0, 0, 0, 1641, 1480, 0, 677, 1933, 0, 0, 0, 1393, 0, 0, 658, 356, 1009,
    979, 1406, 1437, 0, 0, 0, 0, 0, 1803, 0, 0, 0, 260, 1236, 1262, 0, 0, 0, 0, 668, 0, 352, 611,
    0, 25, 451, 669, 710, 965, 1311, 598, 100, 1499, 1659, 69, 1736, 31, 411, 1649, 554, 983, 1407,
    1768, 80, 59, 1980, 0, 0, 0, 0, 0, 1663, 0, 0, 0, 0, 0, 0, 568, 525, 0, 0, 0, 228, 0, 0, 1143,
    1391, 1526, 1595, 0, 588, 871, 1353, 1640, 1647, 1241, 1854, 0, 0, 834, 220, 1221, 1297, 303,
    674, 488, 1431, 0, 0, 0, 0, 0, 0, 693, 0, 0, 791, 0, 0, 71, 1906, 415, 1460, 1419, 1789, 0, 0,
    0, 0, 0, 0, 617, 0, 1729, 0, 0, 0, 1123, 1461, 0, 0, 537, 0, 0, 0, 1730, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 579, 867, 717, 0, 0, 187, 0, 1746, 662, 0, 398, 401, 497, 1178, 229, 0, 389, 563,
    1875, 1706, 0, 0, 0, 1, 0, 0, 887, 471, 1792, 1166, 0, 0, 1432, 0, 0, 0, 1681, 1214, 1761, 52,
    1135, 0, 0, 0, 0, 570, 0, 0, 443, 0, 502, 0, 0, 147, 174, 1068, 0, 0, 259, 736, 1412, 0, 0,
    1727, 0, 0, 766, 865, 1004, 0, 0, 0, 0, 0, 0, 0, 0, 1957, 0, 1784, 0, 0, 286, 474, 1593, 794,
    1625, 1701, 66, 78, 628, 1528, 1938, 0, 0, 0, 0, 0, 1383, 0, 0, 1562, 0, 213, 1053, 0, 510,
    1318, 1969, 0, 0, 1837, 177, 0, 0, 358, 1514, 0, 1425, 0, 0, 1767, 1340, 0, 0, 1228, 1749, 0,
    0, 0, 0, 329, 0, 0, 811, 0, 0, 0, 0, 0, 1515, 0, 1990, 0, 1601, 0, 869, 1065, 0, 0, 0, 548,
    1961, 0, 1750, 960, 1556, 144, 140, 0, 0, 0, 0, 0, 0, 0, 1226, 0, 0, 0, 128, 930, 574, 1120,
    1161, 0, 0, 0, 0, 644, 125, 1611, 0, 0, 0, 1328, 166, 1897, 0, 745, 1700, 203, 0, 0, 255, 572,
    1486, 8, 327, 301, 1254, 1352, 1630, 0, 0, 1905, 0, 495, 1464, 0, 1320, 1705, 653, 1273, 0, 0,
    1062, 0, 0, 0, 231, 219, 859, 1200, 1388, 0, 0, 1216, 0, 0, 0, 0, 0, 0, 760, 0, 1671, 142, 0,
    222, 0, 556, 49, 1220, 0, 752, 1046, 0, 1296, 0, 0, 0, 0, 0, 0, 1103, 0, 202, 1466, 391, 0, 0,
    939, 664, 0, 17, 1409, 0, 937, 1842, 0, 0, 0, 1357, 1845, 1817, 247, 0, 1374, 1645, 0, 761, 0,
    0, 170, 0, 0, 0, 0, 0, 0, 271, 0, 1885, 244, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1368, 0, 0, 0, 1090,
    972, 58, 1224, 1757, 1833, 0, 0, 0, 0, 1347, 1463, 1723, 1773, 632, 840, 1922, 0, 0, 40, 1149,
    1447, 1711, 0, 349, 1394, 0, 918, 691, 276, 718, 1694, 1429, 1794, 1904, 0, 0, 0, 0, 1243, 0,
    0, 1652, 0, 0, 218, 22, 639, 1121, 1831, 0, 0, 694, 1739, 0, 0, 0, 0, 1553, 0, 0, 0, 1420, 0,
    0, 807, 0, 425, 0, 0, 753, 0, 0, 334, 0, 0, 1109, 20, 0, 129, 0, 0, 0, 0, 0, 0, 162, 0, 0, 324,
    0, 0, 0, 0, 1507, 0, 0, 0, 0, 0, 0, 0, 1931, 0, 0, 0, 1785, 1300, 0, 0, 0, 0, 1128, 382, 0, 0,
    460, 1051, 1249, 0, 190, 0, 0, 0, 0, 0, 0, 1329, 0, 0, 0, 361, 1810, 1939, 1985, 0, 0, 0, 0, 0,
    0, 0, 992, 124, 444, 0, 0, 0, 0, 609, 0, 0, 0, 0, 1650, 1414, 0, 1450, 0, 0, 0, 0, 0, 1001, 0,
    1947, 801, 0, 0, 215, 1060, 1287, 483, 514, 1299, 0, 1733, 0, 0, 10, 0, 797, 0, 0, 30, 629,
    963, 0, 272, 335, 1707, 1099, 1724, 0, 526, 1113, 1958, 698, 954, 0, 61, 1213, 569, 1322, 275,
    0, 0, 436, 1439, 0, 0, 0, 0, 0, 0, 1292, 893, 1764, 0, 1602, 138, 375, 699, 1530, 1919, 0,
    1293, 0, 0, 1864, 0, 0, 0, 0, 816, 964, 928, 405, 1669, 0, 0, 868, 0, 0, 0, 0, 0, 0, 0, 852, 0,
    541, 1133, 0, 0, 0, 0, 1155, 1774, 0, 0, 0, 114, 1728, 0, 0, 0, 1688, 0, 429, 273, 1455, 1971,
    908, 1610, 0, 0, 1304, 1524, 0, 0, 771, 0, 0, 0, 0, 0, 0, 1540, 353, 1488, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 236, 550, 608, 200, 995, 1680, 858, 557, 1073, 1704, 1849, 1866, 1888, 0, 610, 1937,
    0, 0, 590, 0, 254, 0, 1337, 0, 0, 0, 270, 1012, 1596, 0, 0, 0, 431, 1246, 0, 978, 0, 870, 0,
    302, 0, 0, 1631, 0, 0, 733, 205, 1040, 223, 388, 1428, 1693, 1878, 0, 359, 1484, 0, 666, 0, 0,
    0, 1523, 0, 0, 652, 1259, 844, 0, 1054, 0, 0, 0, 750, 0, 0, 1276, 0, 0, 0, 207, 225, 432, 833,
    0, 0, 0, 932, 0, 468, 958, 1195, 1944, 0, 0, 1714, 0, 836, 948, 292, 1778, 1874, 0, 0, 0, 1492,
    0, 0, 84, 1312, 0, 0, 0, 0, 0, 1448, 785, 555, 1033, 0, 0, 0, 0, 0, 0, 1489, 354, 0, 0, 1378,
    1843, 0, 0, 0, 0, 1442, 0, 0, 0, 1522, 1269, 482, 0, 0, 0, 0, 206, 267, 842, 1786, 1929, 0, 0,
    0, 0, 0, 1197, 0, 0, 0, 0, 0, 0, 0, 154, 0, 1438, 0, 0, 239, 1215, 50, 1914, 1459, 0, 0, 0,
    748, 0, 1114, 1520, 1979, 0, 1822, 1525, 1319, 1880, 1921, 1503, 0, 0, 0, 331, 0, 0, 1173, 0,
    695, 0, 0, 0, 296, 1108, 143, 0, 1583, 900, 1744, 1841, 0, 0, 0, 624, 0, 567, 1984, 0, 0, 1832,
    0, 595, 0, 0, 0, 0, 0, 0, 0, 0, 827, 592, 1331, 0, 0, 0, 1953, 0, 0, 894, 0, 0, 0, 0, 803,
    1483, 1351, 713, 1047, 661, 1847, 0, 0, 0, 0, 0, 0, 646, 185, 178, 702, 126, 289, 787, 1816, 0,
    0, 0, 866, 0, 0, 0, 0, 0, 0, 0, 951, 1859, 0, 0, 558, 1070, 1702, 0, 1202, 0, 0, 0, 0, 0, 540,
    387, 638, 1138, 197, 263, 1198, 0, 0, 560, 786, 1563, 774, 1654, 60, 350, 1217, 913, 0, 1175,
    0, 0, 0, 0, 0, 1007, 0, 0, 1279, 168, 892, 1264, 0, 705, 633, 1272, 1479, 63, 1160, 0, 0, 0, 0,
    0, 530, 1188, 0, 117, 489, 0, 0, 0, 0, 0, 730, 587, 864, 97, 214, 1557, 1623, 1719, 0, 54, 249,
    348, 365, 0, 0, 1021, 0, 1183, 0, 0, 0, 612, 1017, 1140, 0, 1193, 0, 476, 0, 0, 1452, 0, 0, 0,
    1788, 0, 0, 141, 1544, 1559, 0, 0, 0, 461, 0, 631, 1231, 1686, 479, 823, 0, 0, 0, 0, 0, 956, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 878, 0, 0, 0, 1636, 0, 0, 4, 0, 1018, 0, 0, 0, 0, 0, 854,
    1332, 340, 0, 0, 1545, 1554, 1725, 640, 1770, 1973, 544, 1023, 808, 1415, 1585, 1458, 1618,
    419, 442, 1150, 1298, 1972, 0, 0, 1462, 0, 0, 740, 201, 1288, 105, 784, 1662, 0, 684, 1008,
    1204, 1655, 0, 316, 0, 0, 234, 0, 1360, 1536, 0, 0, 0, 849, 0, 1314, 1805, 1049, 0, 0, 163, 0,
    0, 0, 0, 0, 0, 0, 754, 0, 0, 0, 0, 0, 0, 0, 0, 24, 0, 0, 1509, 0, 1561, 996, 1223, 1310, 248,
    1575, 571, 1918, 1301, 0, 781, 1069, 1350, 957, 1418, 1771, 0, 552, 1152, 0, 1333, 712, 0, 132,
    18, 0, 1386, 0, 0, 0, 0, 848, 714, 851, 1444, 121, 0, 0, 0, 1581, 0, 0, 0, 0, 1759, 484, 1032,
    0, 623, 0, 0, 802, 0, 1754, 0, 199, 986, 1281, 1330, 0, 994, 0, 501, 1027, 0, 0, 0, 0, 0, 0,
    251, 0, 0, 0, 1078, 0, 0, 1106, 0, 0, 921, 104, 0, 0, 0, 0, 809, 0, 1742, 0, 0, 0, 0, 21, 1250,
    1607, 578, 1251, 0, 0, 0, 0, 0, 36, 1573, 1932, 0, 0, 788, 0, 1591, 1853, 0, 0, 0, 0, 0, 0,
    1233, 192, 0, 0, 0, 599, 861, 727, 0, 0, 1560, 0, 0, 1063, 0, 1629, 39, 0, 0, 0, 45, 876, 924,
    0, 1057, 1158, 0, 0, 0, 370, 0, 0, 0, 0, 1361, 0, 645, 0, 0, 961, 0, 1362, 0, 0, 0, 0, 0, 0, 0,
    0, 1180, 1917, 0, 1687, 394, 1790, 0, 0, 0, 732, 1899, 0, 0, 641, 47, 1072, 0, 0, 0, 455, 407,
    789, 0, 559, 716, 0, 439, 881, 1823, 0, 1806, 0, 767, 1324, 0, 615, 0, 0, 0, 929, 0, 0, 0,
    1440, 0, 0, 0, 0, 171, 0, 0, 0, 0, 0, 1901, 0, 757, 0, 0, 0, 0, 0, 0, 0, 0, 815, 0, 0, 0, 0,
    1094, 0, 0, 0, 862, 686, 0, 1487, 173, 0, 1818, 519, 949, 0, 0, 0, 0, 593, 0, 0, 0, 262, 1403,
    0, 83, 1127, 1153, 496, 467, 453, 480, 1551, 1758, 0, 0, 0, 0, 1613, 0, 726, 284, 1569, 0, 0,
    0, 0, 1814, 580, 0, 796, 1339, 896, 758, 1500, 1266, 0, 0, 0, 112, 312, 1443, 0, 313, 0, 683,
    606, 946, 1639, 1799, 0, 654, 1030, 1211, 1275, 0, 463, 0, 0, 1100, 0, 191, 0, 6, 1485, 0, 0,
    0, 0, 1381, 311, 888, 1144, 1858, 1164, 0, 0, 93, 435, 1988, 0, 0, 392, 0, 1375, 1042, 0, 0, 0,
    500, 1041, 0, 0, 883, 0, 1130, 0, 337, 0, 1392, 1107, 1199, 0, 280, 357, 1052, 0, 28, 397,
    1182, 0, 0, 723, 1365, 0, 0, 0, 0, 1235, 1776, 626, 0, 0, 0, 0, 0, 351, 458, 1252, 449, 0, 0,
    53, 1926, 0, 0, 0, 0, 0, 1855, 0, 0, 0, 1587, 0, 0, 984, 0, 0, 0, 0, 1117, 1801, 0, 0, 0, 0,
    454, 1071, 1502, 309, 882, 0, 1664, 0, 0, 919, 0, 650, 1709, 1405, 1219, 1427, 0, 1494, 0, 0,
    434, 581, 725, 1210, 102, 1364, 1445, 1238, 0, 0, 0, 1116, 0, 224, 486, 625, 0, 0, 0, 0, 0, 0,
    0, 0, 438, 1959, 0, 1755, 0, 0, 512, 935, 1470, 0, 62, 306, 0, 0, 0, 0, 0, 857, 1634, 1718, 0,
    0, 0, 0, 0, 798, 0, 0, 0, 0, 1408, 1779, 0, 0, 0, 176, 184, 325, 0, 79, 209, 585, 1697, 722,
    1367, 0, 204, 0, 0, 0, 0, 0, 0, 0, 1783, 208, 744, 0, 0, 0, 0, 0, 0, 0, 947, 1010, 1134, 1327,
    336, 34, 1115, 383, 1491, 1643, 212, 1747, 56, 0, 776, 1911, 0, 895, 0, 0, 110, 0, 1002, 0, 0,
    0, 0, 0, 522, 0, 0, 106, 298, 0, 1970, 0, 1305, 1498, 1471, 0, 0, 285, 1336, 576, 940, 0, 0,
    1036, 0, 0, 0, 898, 950, 1085, 1270, 0, 0, 1295, 688, 183, 315, 413, 1934, 0, 0, 1935, 0, 1781,
    729, 547, 853, 0, 1389, 991, 0, 420, 1400, 0, 0, 0, 1753, 734, 0, 0, 0, 912, 1884, 16, 1672,
    742, 0, 0, 0, 1531, 0, 0, 1722, 0, 0, 0, 152, 703, 1229, 0, 0, 130, 523, 1449, 0, 1907, 0,
    1026, 0, 0, 373, 508, 1943, 0, 0, 0, 0, 0, 0, 1011, 1282, 0, 0, 926, 32, 0, 0, 0, 1086, 0, 146,
    0, 0, 1504, 1397, 828, 1016, 0, 0, 0, 0, 0, 775, 107, 0, 503, 1343, 1698, 0, 1815, 0, 0, 1612,
    0, 0, 0, 0, 0, 0, 164, 660, 877, 0, 0, 1232, 0, 0, 0, 0, 1469, 328, 685, 321, 696, 1025, 1497,
    0, 0, 0, 0, 0, 0, 989, 0, 0, 0, 1960, 0, 1555, 0, 0, 0, 0, 1101, 860, 0, 0, 92, 499, 0, 1869,
    344, 0, 627, 0, 0, 0, 813, 820, 1656, 1267, 151, 447, 602, 307, 1118, 1850, 0, 1787, 1045, 0,
    1472, 886, 1598, 0, 0, 0, 1511, 778, 0, 1398, 153, 942, 1467, 0, 0, 0, 1670, 300, 338, 1048,
    396, 1190, 0, 731, 0, 0, 0, 988, 0, 0, 847, 1263, 0, 0, 1309, 1096, 0, 0, 0, 457, 839, 0, 0, 0,
    0, 0, 1924, 1966, 0, 0, 934, 0, 1278, 0, 26, 1225, 0, 0, 0, 990, 1055, 1061, 0, 1599, 890,
    1872, 123, 0, 198, 0, 1067, 0, 0, 0, 0, 1745, 0, 0, 0, 0, 268, 1105, 993, 1490, 1614, 196,
    1083, 1384, 1379, 594, 841, 1413, 1510, 1737, 1777, 0, 0, 1603, 0, 0, 0, 0, 0, 0, 0, 0, 1227,
    0, 1808, 0, 1302, 0, 0, 0, 0, 0, 1857, 0, 1059, 1981, 38, 0, 0, 0, 1242, 0, 0, 0, 0, 0, 1648,
    0, 906, 333, 319, 0, 1092, 0, 0, 0, 0, 0, 0, 0, 1564, 1505, 0, 0, 0, 330, 0, 0, 0, 0, 0, 586,
    0, 85, 1366, 1708, 240, 909, 0, 822, 0, 0, 0, 418, 0, 1735, 0, 0, 0, 0, 762, 0, 0, 0, 1019,
    1136, 1433, 0, 0, 0,
};
/* clang-format on */

#endif
