import { bytesText } from '../../lib/bytes.js'
import { BaseCommand } from '../framework/base.js'
import { pathFlag } from '../input/path-flag.js'
import { Flags } from '../oclif.js'

export default class Support extends BaseCommand {
  static override summary = 'Write a file for a bug report: facts, checks, configuration and log, without secrets'
  static override description =
    'The archive has info.json, doctor.json (without --all), config.json and log.jsonl. It contains only known fields, without ' +
    'passwords, tokens, keys and messages of errors. It does name the home, addresses in the configuration, and projects or ' +
    'folders with a fault: read it before you send it. The newest lines of the log are in it, as far as they fit into --max-bytes.'
  static override examples = [
    '<%= config.bin %> support',
    '<%= config.bin %> support --to /tmp/support.tar.gz --max-bytes 2000000'
  ]
  static override flags = {
    to: pathFlag({ description: 'the new file (default: gitstead-support-TIME.tar.gz in the current folder)' }),
    'max-bytes': Flags.integer({
      default: 8_388_608,
      min: 1_048_576,
      max: 268_435_456,
      description: 'the size of all files in the archive together, before compression'
    })
  }

  async run() {
    const { flags } = await this.parse(Support)
    this.configure(flags)
    const { writeBundle } = await import('../support/bundle.js')
    const time = new Date().toISOString().replace(/\..*/, '').replace(/[-:]/g, '')
    const written = await writeBundle(flags.to ?? `gitstead-support-${time}.tar.gz`, flags['max-bytes'])
    this.log(`${written.file}: ${bytesText(written.bytes)}, with ${written.log.lines} lines of the log`)
    return written
  }
}
