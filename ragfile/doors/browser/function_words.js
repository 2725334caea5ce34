/* Made by tools/write_function_words.py from spec/languages.toml: words that claim nothing, by language. */

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
"a aby ale ani ano bez bude budou by byl byla bylo byly být chcete co další dalších do ho i jak jako" +
" je jeho jejich její jejího jen jestliže ještě již jsem jsme jsou já jí k každé každý kde kdo kdy" +
" když ke kolik kterou která které který kterých lze ma mezi mi mohou mu musí má mě měl může můžete na" +
" nad například nebo nejsou není než nic nich nyní ně některé o od on ona oni pak po pod pokud pomocí" +
" potom pro proto protože proč první před při s se si stejně svou své svůj ta tak takové takto také" +
" tam tato te tedy ten tento to tohoto tom tomto toto tu ty této tím těchto u už v vaše ve vy vám váš" +
" však všech všechno všechny z za zda zde ze že"
),
(
"af alle andet at blev blive bliver brug bruge bruges da de den dens der deres det dets dig din dog" +
" du efter eller en end er et findes for fordi fra gør ham han hans har havde hendes hun hvad hvem" +
" hver hvilke hvilken hvilket hvis hvor hvordan hvorfor hvorledes hvornår i ikke ind ingen jeg jer" +
" jeres kan kunne lige man mange med meget men mig min mit mod må måde ned noen nogen noget nogle nu" +
" når og også om op os over på selv siden sig sin skal skulle som sådan til ud under var ved vi vil" +
" vores være"
),
(
"ab aber alle allem allen aller alles als also am an anderen auch auf aus bei beim bereits bevor bin" +
" bis bist bzw da dadurch dafür daher damit dann darf das dass davon dazu dem den denn der deren derer" +
" des dessen die dies diese diesem diesen dieser dieses doch dort du durch eigenen ein eine einem" +
" einen einer eines einige er es etwa etwas falls ferner folgende folgenden für gegen gibt haben hat" +
" hatte hier hierbei ich ihr ihre ihrem ihren ihrer im immer in indem innerhalb ins ist ja jede jedem" +
" jeden jeder jedes jedoch jetzt kann kein keine können könnte lange man mehr mehrere mein mich mir" +
" mit muss möchten müssen müsste nach nachdem neben nicht nichts noch nun nur ob oben oder ohne sein" +
" seine seinen seiner seit selbst sich sie sind so sobald sodass sofern solche soll sollte somit" +
" sondern sonst sowie statt trotz um und uns unsere unserer unter viel viele vom von vor wann war" +
" warum was weil weitere weiterhin welche welchem welchen welcher welches wem wen wenig weniger wenn" +
" wer werden wessen wie wieder wieso wir wird wo wofür woher wohin womit worden wozu wurde wurden" +
" während zu zum zur zwischen über"
),
(
"άλλα άλλο ένα ένας έχει έχετε έχουν ή ήταν αλλά αν από αυτά αυτές αυτή αυτό αυτός για γιατί δε δεν" +
" εάν είναι εγώ εκεί εμείς επίσης επειδή η θα κάθε κάποια κάποιο κάτι και κατά μέσα μα μας με μετά μη" +
" μην μια μου μπορεί μπορείτε μόνο να ο οι ποια ποιο ποιος πολύ που πού πρέπει πριν προς πως πόσο πότε" +
" πώς σαν σας σε στα στη στην στις στο στον στους τα τη την της τι τις το τον του τους των τότε χωρίς" +
" ως όλα όλες όλοι όπως όσο όταν ότι όχι ώστε"
),
(
"a además ahora al algo alguna algunas alguno algunos algún antes aquí así aún cada casi como con" +
" cual cualquier cuando cuanto cuya cuál cuáles cuándo cuánta cuántas cuánto cuántos cómo de debe" +
" deben del desde después dicha dicho donde dos durante dónde e el ella ellas ellos embargo en" +
" entonces entre era es esa esas ese eso esta estar estas este esto estos está están fue fueron ha" +
" había hace hacer hacia hasta hay haya incluso la las le les lo los luego me mediante mejor menos mi" +
" mientras mis misma mismo mucho muchos muy más nada ni no nos nuestro nueva nuevo o otra otras otro" +
" otros para pero poder por porque primero puede pueden puedo pues que quien quién qué se sea según" +
" ser será si sido siempre sin sino sobre solo son su sus sólo tal también tanto te tiene tienen toda" +
" todas todo todos tras tu tus un una uno unos usted vez y ya yo él"
),
(
"aina ei eikä eivät ennen että he hän hänen ilman ja joita joka jolloin jonka jos jota jotka jälkeen" +
" kaikki kanssa kuin kuka kun kunnes kuten lisäksi me miksi mikä millainen milloin minä missä miten" +
" mitkä mitä monta mukaan mutta myös niiden niin niitä nyt näiden nämä olen olet olevan oli olla oma" +
" on ovat pitää se sekä sen siis siitä silloin sillä sinä siten sitten tai te tämä tämän tätä vaan vai" +
" vaikka vain vielä voi voidaan voit voivat"
),
(
"a afin ai ainsi alors après as au aucun aucune aussi aux avant avec avez avoir bien c car ce cela" +
" ces cet cette chaque ci combien comme comment d dans de depuis des deux doit donc dont du déjà elle" +
" elles en encore entre es est et fait faut fois ici il ils j je l la le les leur leurs lors lorsque" +
" lui là m ma mais me mes moi mon même n ne non nos notamment notre nous nouveau on ont ou où par pas" +
" peut peuvent peux plus plusieurs pour pourquoi pouvez puis qu quand que quel quelle quelles quels" +
" qui quoi s sa sans se sera serait ses seulement si sinon soit sommes son sont sous sur t ta te tel" +
" telle tes toi ton tous tout toute toutes très tu un une vers voici voir vos votre vous y à étaient" +
" était été être"
),
(
"a ahol aki akkor alatt amely amelyek ami amikor amíg annak arra az azok azonban azt azért be benne" +
" bármely csak de e egy egyes ehhez el először előtt ennek erre esetén ez ezek ezen ezt ezért fel ha" +
" hanem hogy hogyan hol hány illetve is ismét itt jelenleg kell ki kívül között le legyen lehet lesz" +
" lett ma majd meg mely melyik mennyi mert mi miatt mikor milyen mind minden mint mit mivel miért most" +
" már még ne nem nincs néhány nélkül olyan ott pedig például s saját sem szerint számára szükséges te" +
" tehát ti továbbá tud több után vagy valamint van vannak vele vissza viszont volna volt által én és" +
" így össze úgy ő ők"
),
(
"a abbia abbiamo ad ai al alcune alcuni all alla alle allo altra altre altri altro anche ancora" +
" appena avere bisogno che chi ci ciascun ciò coi col come comunque con contro cosa così cui d da" +
" dagli dai dal dall dalla dalle dallo de degli dei del dell della delle dello dentro deve devono di" +
" dopo dove dunque durante e ed era erano essa essere essi fare fino fra già gli ha hai hanno ho i il" +
" in infatti inoltre invece io l la le lei lo loro lui ma mentre mi mio molti molto ne negli nei nel" +
" nell nella nelle nello nessun nessuna no noi non o ogni oltre ora ossia per perché piuttosto più poi" +
" possibile possono prima proprio pure può qual qualche quale quali qualsiasi quando quanta quante" +
" quanti quanto quella quelle quelli quello questa queste questi questo quindi saranno sarà se secondo" +
" sempre senza si sia siano solo sono sopra sotto stata state stati stato su sua sui sul sull sulla" +
" sulle suo tale tali tanto tra tu tutta tutte tutti tutto un una uno vengono verrà vi viene è"
),
(
"aan achter af al alle alleen alles als andere anders bij bijvoorbeeld binnen boven daar daarna" +
" daarom dan dat de der des deze die dit door dus echter een eerst eigen elke en enkele er gebruikt" +
" geen genoeg haar had heb hebben hebt heeft hem het hier hierdoor hij hoe hoeveel hun iedere iets ik" +
" in indien is je jou jouw kan kunnen kunt maar maken me mee meer men met mij mijn moet moeten" +
" mogelijk na naar namelijk niet niets nieuwe nodig nog nooit nu of ofwel om omdat onder ons onze ook" +
" op opnieuw over per reeds samen sinds sommige steeds te tegen terwijl tijdens toch toen tot tussen u" +
" uit uw vaak van vanaf veel verder vervolgens via volgende voor voordat waar waarbij waarmee waarom" +
" waarop wanneer waren was wat we weer wel welk welke werd werden wie wij wilt worden wordt zal ze" +
" zelf zelfs zich zij zijn zo zoals zonder zou zullen zult"
),
(
"alle at av bare ble bli blir bruke bruker da de deg den denne der dere deres det dette disse du" +
" eller en enhver enn er et for fordi fra først gjør gjøre ha han har hun hva hvem hver hvilke hvilken" +
" hvis hvor hvordan hvorfor hvorledes i ikke ingen inn jeg kan kunne man mange med meget mellom men" +
" mot må måte noe noen nå når og også om opp oss over på seg selv siden sin skal skulle slik som til" +
" under ut uten var ved vi vil våre være vært å"
),
(
"a aby albo ale bardzo bez bo by być był była było były będzie będą chce chyba ci cię co czego czy" +
" dla dlaczego dlatego do dzięki gdy gdzie go i ich ile im inne innych iż ja jak jaka jaki jakie jako" +
" je jednak jego jej jest jeśli jeżeli już każdy kiedy kto która które którego której który których" +
" którym którzy lub ma mają między mnie mogą moż może można mu musi musisz my na nad należy nas nawet" +
" nic nich nie nim nią niż np o od on ona oni oraz po pod podczas pomocą ponieważ poprzez powinien" +
" przed przez przy również sam się sobie swoje swój są ta tak także tam te tego tej ten to tu twoje ty" +
" tych tylko tym tymi u w we więc wszystkich wszystkie wtedy wśród z za ze zostanie został została że" +
" żeby"
),
(
"a abaixo acima ainda algum alguma algumas alguns além antes ao aos apenas após aquela aquele aqui as" +
" assim até cada caso com como contudo cujo da das de depois desde desta deste destes deve devem" +
" deverá disso do dois dos durante e ela elas ele eles em entre entretanto então era essa essas esse" +
" esses esta estar estas este estes está estão eu faz fazer foi foram havia há isso isto já lhe lá" +
" maior mais mas me menos mesma mesmas mesmo meu minha muitas muito muitos na nas nem nenhum nesta" +
" neste no nos num numa nunca não nós o onde os ou outra outras outro outros para pela pelas pelo" +
" pelos pode podem poder pois por porque porém posso pouco pôde quais quaisquer qual qualquer quando" +
" quanta quantas quanto quantos que quem se sem sempre ser será serão seu seus sido sim sobre sua suas" +
" são só tais tal também tanto te tem ter toda todas todo todos tudo têm um uma usando vez você vocês" +
" à é"
),
(
"a acea aceasta această aceea acest acesta aceste acestea acestei acestor acestui acolo ai aici al" +
" ale alt alte altul altă am apoi ar are astfel atunci au avea aveți aș ca care ce cea cei cel cele" +
" cine conform cu cum când cât câte câți că către da dacă dar de deasupra deci decât despre deși din" +
" doar două dumneavoastră după ea ei el ele este eu fi fie fiecare foarte fost fără i iar l la le li" +
" lor lui mai mi mult multe mulți ne nici niște nu numai o or ori orice pe pentru poate pot prin" +
" puteți până s sa sale sau se su sub sunt să te toate tot totuși toți trebuie tu un una unde unei" +
" unor unui va vor vă îi îl în înainte încă între își și ți"
),
(
"а без более будет будут бы был была были было быть в вам вас ваш ваша ваше вашего весь во вот все" +
" всего всех вы где да даже для до должен должна должно должны его ее ей ему если есть еще ею же за" +
" зачем здесь и из или им именно использовать используется их к как какая какие каким какой каком" +
" какую ко когда которая которого которое которой котором которую которые который которых кроме кто ли" +
" либо лишь между меня мне многие могут может можете можно мой мы на над надо например нас наш не него" +
" нее ней некоторые нельзя нет неё ни но нужно о об один однако он она они оно от по под после потому" +
" почему поэтому при просто с сам сколько следует случае снова со так такая также такие такого такой" +
" там тем теперь то тогда того тоже только том тот три ту тут у уже чего чей чем через что чтобы эта" +
" эти это этого этой этом этот эту я"
),
(
"alla att av bara bland blev bli blir de dem den denna deras dess det detta dig din dina ditt du där" +
" därför då efter eftersom ej eller en er ett finns från få får för genom gör göra ha han hans har" +
" hennes hon hos hur hör i icke in inga ingen inom inte jag kan kommer kunde kunna man med men mer mig" +
" min mot mycket mån många måste ni nu när någon något några och om oss på sedan sig sin själv ska" +
" skall skulle som så sådan till under upp ut utan vad var vara varför vem vi vid vilka vilken vilket" +
" våra vårt är över"
),
(
"acaba ama ancak aslında aynı az bazı belki ben beni benim bir biri birkaç biz bu buna bunda bundan" +
" bunu bunun böyle bütün da daha de defa değil diye eder edilir en etmek gerek gibi göre hangi hangisi" +
" hem hep hepsi her hiç ile ilgili ise için içinde işte kadar kendi kendisi kez ki kim mi mu mü mı" +
" nasıl ne neden nedir neler nerede niye niçin o olan olarak oldu olduğu olması olup olur ona ondan" +
" onlar onu onun sadece sanki siz sizin sonra tarafından tüm var vardır ve veya ya yalnızca yani yok" +
" yoksa zaman çok çünkü önce üzere üzerinde şey şu"
),
].map(listed);
export const PAIRS = listed("为什 么是 么样 什么 可以 哪个 哪些 哪种 哪里 多少 如何 怎么 怎样 是什 是否 有什 能否 请问 가요 까요 나요 누가 니까 니다 떻게 려면 무엇 습니 어디 어떻 언제 엇입 에서 위한 위해 으로 인가 입니 하고 하기 하는 하려");
export const AMOUNTS = new Map([
  ["how", listed("big deep far fast heavy high large late long many much often old quickly soon tall wide")],
  ["was", listed("kosten kostet")],
  ["wie", listed("alt groß hoch lange oft schnell schwer spät teuer viel viele weit")],
  ["combien", listed("coûte coûtent")],
  ["cuánto", listed("cuesta cuestan dura tarda")],
  ["quanto", listed("costa costano custa custam dura")],
  ["hoeveel", listed("kost kosten")],
  ["сколько", listed("длится стоит стоят")],
]);
