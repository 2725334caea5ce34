// A static site in Firefox: node firefox.mjs URL FIREFOX; puppeteer-core is looked for in NODE_PATH.
// Prints what the page shows and says.
import { createRequire } from "node:module";

const [, , url, executablePath] = process.argv;
const folder = process.env.PUPPETEER ?? "node_modules";
const puppeteer = createRequire(`${folder}/x.js`)("puppeteer-core");
const browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true });
const page = await browser.newPage();
const said = [];
page.on("console", (message) => said.push(message.text()));
page.on("pageerror", (error) => said.push(`${error}`));
await page.goto(`${url}/?q=rotate+the+keys`);
await page.waitForSelector(".passage", { timeout: 60_000 });
const first = await page.$eval(".passage", (each) => each.innerText);
await page.waitForFunction(() => !document.querySelector(".degraded"), { timeout: 60_000 });
const status = await page.$eval("#status", (each) => each.innerText);
process.stdout.write(JSON.stringify({ first, status, said, version: await browser.version() }));
await browser.close();
