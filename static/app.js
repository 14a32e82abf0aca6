// What makes the pages livelier. Every page works without it but for the feed.

import { startLive } from "./live.js";
import { startKeys } from "./keys.js";
import { startTimes } from "./times.js";
import { startCopy } from "./copy.js";
import { startSuggest } from "./suggest.js";

document.documentElement.classList.add("scripted");
startTimes();
startCopy();
startKeys();
startSuggest();
startLive();
