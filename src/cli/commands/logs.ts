import { requireFolder } from '../../home.js'
import { endOfLog, lastLines, newLines, plainLine } from '../appliance/read-log.js'
import { BaseCommand } from '../framework/base.js'
import { Flags } from '../oclif.js'

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const

export default class Logs extends BaseCommand {
  static override summary = 'Show the log of the appliance of this home'
  static override description =
    'It reads what `gitstead up` wrote, in run/gitstead.log and the four files before it (16 MB each). Processes that run by themselves (`gitstead server`, `gitstead worker`) write to their service manager instead. With --json and --follow: one JSON object per line.'
  static override examples = [
    '<%= config.bin %> logs',
    '<%= config.bin %> logs --follow --level warn',
    '<%= config.bin %> logs --request 8b6c6f5e --lines 500'
  ]
  static override flags = {
    follow: Flags.boolean({ char: 'f', description: 'go on with each new line until you stop it' }),
    lines: Flags.integer({ char: 'n', description: 'how many lines', default: 50, min: 0, max: 100_000 }),
    level: Flags.option({ options: LEVELS, description: 'only lines of this level, or worse' })(),
    request: Flags.string({ description: 'only lines of the request with this X-Request-Id' })
  }

  async run() {
    const { flags } = await this.parse(Logs)
    this.configure(flags)
    requireFolder()
    type Line = Parameters<typeof plainLine>[0]
    const least = flags.level === undefined ? -1 : LEVELS.indexOf(flags.level)
    // A line without a level is the end of a process that crashed: it is as bad as an error.
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
