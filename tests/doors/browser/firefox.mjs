// Firefox, driven by lines: node firefox.mjs FIREFOX, one JSON line [action, …] in and one answer out.
// puppeteer-core is looked for in the folder PUPPETEER.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [, , executablePath] = process.argv;
const puppeteer = createRequire(`${process.env.PUPPETEER ?? "node_modules"}/x.js`)("puppeteer-core");
const browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true });
const WAIT = { timeout: 60_000 };
let page = null;
let said = [];

const ACTIONS = {
  async page() {
    await page?.close();
    page = await browser.newPage();
    said = [];
    page.on("console", (message) => said.push(message.text()));
    page.on("pageerror", (error) => said.push(`${error}`));
  },
  goto: (url) => page.goto(url, { waitUntil: "domcontentloaded" }).then(() => null),
  /** The text of the first element that a selector finds, once it is there. */
  async text(selector) {
    const found = await page.waitForSelector(selector, WAIT);
    return found.evaluate((one) => one.innerText || one.textContent);
  },
  /** Wait until an expression is true; waitForFunction makes a Function, which the policy forbids. */
  async waitFor(expression) {
    const end = Date.now() + WAIT.timeout;
    while (!(await page.evaluate(`Boolean(${expression})`))) {
      if (Date.now() > end) throw new Error(`not true within ${WAIT.timeout} ms`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return true;
  },
  click: async (selector) => (await page.waitForSelector(selector, WAIT)).click(),
  type: (text) => page.keyboard.type(text),
  press: (key) => page.keyboard.press(key),
  evaluate: (expression) => page.evaluate(expression),
  said: () => said,
  version: () => browser.version(),
};

for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...given] = JSON.parse(line);
  let answer;
  try {
    answer = { result: (await ACTIONS[name](...given)) ?? null };
  } catch (error) {
    answer = { error: `${name} ${given.join(" ")}: ${error.message}; said: ${said.join("; ")}` };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
