import { endOfTrace, traceStateOf } from '../../../areas/ci/builds/live-build.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { recordNumber } from '../../input/record-number.js'
import { Flags } from '../../oclif.js'
import { printTrace } from '../../topics/print-trace.js'

/** Bytes of the end of a trace that a document of --json has. */
const MOST_JSON = 4_194_304

export default class BuildsTrace extends BaseCommand {
  static override summary = 'Print the trace of a build: what its scripts have printed so far'
  static override description =
    'Exactly as the build printed it, with its colors, when the output is not a terminal; a terminal gets no control signs but colors and line ends. With --follow it goes on until the build has ended; then the exit code is 0 when the build succeeded, otherwise 1. When the build starts again after its worker was lost, its new trace begins after a line on standard error. With --json: {id, status, attempt, size, trace}, at most the last 4 MiB of the trace.'
  static override examples = [
    '<%= config.bin %> builds trace 4711',
    '<%= config.bin %> builds trace 4711 --follow',
    '<%= config.bin %> builds trace 4711 --json'
  ]
  static override args = { build: recordNumber('number of the build') }
  static override flags = {
    follow: Flags.boolean({ char: 'f', description: 'go on with what is added until the build has ended' })
  }

  async run() {
    const { args, flags } = await this.parse(BuildsTrace)
    this.configure(flags)
    if (flags.follow && this.jsonEnabled()) this.error('--follow prints a text: leave --json away', { exit: 2 })
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
