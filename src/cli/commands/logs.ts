import { requireFolder } from '../../home.js'
import { endOfLog, lastLines, newLines, plainLine } from '../appliance/read-log.js'
import { BaseCommand } from '../framework/base.js'
import { Flags } from '../oclif.js'

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const

export default class Logs extends BaseCommand {
  static override summary = 'Show the log of the appliance of this home'
  static override description =
    'Reads the log of `gitstead up`: run/gitstead.log in the home and the four older files (16 MB each). `gitstead server` and `gitstead worker` log to their service manager instead. With --json and --follow: one JSON object per line.'
  static override examples = [
    '<%= config.bin %> logs',
    '<%= config.bin %> logs --follow --level warn',
    '<%= config.bin %> logs --request 8b6c6f5e --lines 500'
  ]
  static override flags = {
    follow: Flags.boolean({ char: 'f', description: 'keep printing new lines until interrupted' }),
    lines: Flags.integer({ char: 'n', description: 'number of lines to show', default: 50, min: 0, max: 100_000 }),
    level: Flags.option({ options: LEVELS, description: 'only lines of this level or higher' })(),
    request: Flags.string({ description: 'only lines about the request with this X-Request-Id' })
  }

  async run() {
    const { flags } = await this.parse(Logs)
    this.configure(flags)
    requireFolder()
    type Line = Parameters<typeof plainLine>[0]
    const least = flags.level === undefined ? -1 : LEVELS.indexOf(flags.level)
    // A line without a level is the last output of a process that crashed, so it counts as fatal.
    const fits = ({ fields }: Line) =>
      LEVELS.indexOf((fields?.level as (typeof LEVELS)[number] | undefined) ?? 'fatal') >= least &&
      (flags.request === undefined || fields?.request === flags.request)
    const end = endOfLog()
    const found = lastLines(end, flags.lines, fits)
    const show = (line: Line) =>
      process.stdout.write(
        `${this.jsonEnabled() ? JSON.stringify(line.fields ?? { msg: line.text }) : plainLine(line)}\n`
      )
    if (!flags.follow) {
      if (!this.jsonEnabled()) found.forEach(show)
      return { lines: found.map(({ fields, text }) => fields ?? { msg: text }) }
    }
    process.stdout.once('error', () => process.exit(0))
    found.forEach(show)
    for await (const line of newLines(end, fits)) show(line)
  }
}
