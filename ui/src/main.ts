// The page of sosgo web, and of a report.
import { start } from "./app";

start();
