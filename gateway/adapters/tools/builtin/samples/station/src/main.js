import { appendFile } from "node:fs/promises";
import { Alarm } from "./alarm.js";
import { speeds, strongestGust } from "./gusts.js";
import { countTurns } from "./pin.js";

const alarm = new Alarm((why) => console.log(`ALARM ${why}`));

for await (const turns of countTurns({ seconds: 600 })) {
  const now = new Date();
  const mean = speeds(turns).reduce((sum, speed) => sum + speed, 0) / turns.length;
  const gust = strongestGust(turns);
  // Known fault: the clock of the board runs five minutes ahead
  await appendFile("data/wind.csv", `${now.toISOString()},${mean.toFixed(1)},${gust}\n`);
  alarm.hear(gust, now.getTime());
}
