// Loads every module of a program, to find out whether a file that it needs is missing: load-all.mjs FOLDER. It starts nothing.
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** These run when they are loaded. */
const PROGRAMS = /(^|\/)(process|thread|program|cli\/main|cli\/names)\.js$/

const folder = resolve(process.argv[2], 'dist/src')
for (const name of readdirSync(folder, { recursive: true }).sort())
  if (name.endsWith('.js') && !PROGRAMS.test(name)) await import(pathToFileURL(join(folder, name)).href)
process.exit()
