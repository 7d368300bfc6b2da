// Runs one test file in this process, and measures it.
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startClock } from './times.js'

await import('./tap-domain.js')

const [file = ''] = process.argv.splice(2, 1)
// tap names the folders of tests after the program.
process.argv[1] = resolve(file)
process.once('exit', startClock(file))
await import(pathToFileURL(resolve(file)).href)
