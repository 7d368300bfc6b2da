import { endOfTrace, traceStateOf } from '../../../areas/ci/builds/live-build.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { recordNumber } from '../../input/record-number.js'
import { Flags } from '../../oclif.js'
import { printTrace } from '../../topics/print-trace.js'

/** Maximum bytes of a trace in --json: its end. */
const MOST_JSON = 4_194_304

export default class BuildsTrace extends BaseCommand {
  static override summary = 'Print the trace of a build: the output of its scripts so far'
  static override description =
    'The trace is printed unchanged, with its colors; on a terminal, all control characters except colors and line ends are removed. With --follow, it continues until the build finishes; the exit code is then 0 if the build succeeded, otherwise 1. If the build starts again because its worker was lost, a line on standard error announces the new trace. With --json: {id, status, attempt, size, trace}, at most the last 4 MiB of the trace.'
  static override examples = [
    '<%= config.bin %> builds trace 4711',
    '<%= config.bin %> builds trace 4711 --follow',
    '<%= config.bin %> builds trace 4711 --json'
  ]
  static override args = { build: recordNumber('number of the build') }
  static override flags = {
    follow: Flags.boolean({ char: 'f', description: 'keep printing new output until the build finishes' })
  }

  async run() {
    const { args, flags } = await this.parse(BuildsTrace)
    this.configure(flags)
    if (flags.follow && this.jsonEnabled()) this.error('--follow cannot be used with --json', { exit: 2 })
    return withDatabase(async () => {
      const build = await orNotFound('build', args.build, () => traceStateOf(args.build))
      if (this.jsonEnabled()) {
        const { size, tail } = await endOfTrace(build, MOST_JSON)
        return { id: build.id, status: build.status, attempt: build.attempt, size, trace: tail }
      }
      const status = await printTrace(build, flags.follow)
      if (flags.follow && status !== 'success') process.exitCode = 1
      return undefined
    })
  }
}
