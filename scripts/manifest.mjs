// Writes oclif.manifest.json, which describes all commands. Without it, help loads the modules of each.
import { rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Config } from '../dist/src/cli/oclif.js'

const root = fileURLToPath(new URL('..', import.meta.url))
rmSync(`${root}/oclif.manifest.json`, { force: true })
const config = await Config.load({ root, ignoreManifest: true })
const plugin = config.plugins.get('gitstead')
writeFileSync(`${root}/oclif.manifest.json`, JSON.stringify(plugin.manifest))
