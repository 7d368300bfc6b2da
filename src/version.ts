// The version of the program, as in its package.json.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './config.js'

export const version: string = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string })
  .version
