import type { JobOverview } from '../../../areas/upkeep/jobs/job-overview.view.js'
import type { JobSource } from '../../dashboard/source.js'
import type { TokenSource } from '../../dashboard/token.js'
import { BaseCommand, type FlagsOf } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'
import { Flags } from '../../oclif.js'

export default class JobsTop extends BaseCommand {
  static override summary = 'Watch and manage queues, workers, jobs, builds, hooks and mail in a dashboard'
  static override description =
    `Press ? to show all keys. Without a terminal, use --once for one plain frame, or --json for one record as in
GET /bgjobs/overview. With --url, it watches another appliance, which needs the token of an administrator from --token-file,
--token-stdin, --token or GITSTEAD_TOKEN. If NO_COLOR is set, it uses no colors; every state is also shown as a word.`
  static override examples = [
    '<%= config.bin %> jobs top',
    '<%= config.bin %> jobs top --once',
    '<%= config.bin %> jobs top --read-only --interval 5',
    '<%= config.bin %> jobs top --url https://git.example.org --token-file ./token'
  ]
  static override flags = {
    once: Flags.boolean({ description: 'print one plain frame and exit' }),
    interval: Flags.integer({ description: 'seconds between two updates', default: 2, min: 1, max: 3600 }),
    'read-only': Flags.boolean({ description: 'disable all keys that change anything' }),
    url: Flags.string({ description: 'watch the appliance at this URL through its API' }),
    'token-file': Flags.file({ description: 'read the token from the first line of a file', dependsOn: ['url'] }),
    'token-stdin': Flags.boolean({
      description: 'read the token from the first line of standard input',
      dependsOn: ['url']
    }),
    token: Flags.string({
      description: 'the token itself; other users of this machine can see it in the process list',
      dependsOn: ['url']
    })
  }

  async run(): Promise<JobOverview | undefined> {
    const { flags } = await this.parse(JobsTop)
    this.configure(flags)
    const environment = await import('../../dashboard/environment.js')
    const watches = !flags.once && !this.jsonEnabled()
    if (watches && !environment.hasScreen()) this.refuse()
    environment.useProductionReact()
    if (flags.url !== undefined) {
      const { token, 'token-file': file, 'token-stdin': stdin } = flags
      const source = await this.remote(flags.url, { token, file, stdin })
      return watches ? this.watch(source, flags) : this.look(source)
    }
    if (!watches) {
      const { localOverview } = await import('../../dashboard/local-overview.js')
      return withDatabase(() => this.look(localOverview()))
    }
    const { localSource, requireAppliance } = await import('../../dashboard/local-source.js')
    await requireAppliance()
    return this.watch(localSource(), flags, withDatabase)
  }

  private async remote(url: string, token: TokenSource): Promise<JobSource> {
    const [{ readToken }, { remoteSource }] = await Promise.all([
      import('../../dashboard/token.js'),
      import('../../dashboard/remote-source.js')
    ])
    return remoteSource({ url, token: await readToken(token) })
  }

  private async look(source: Pick<JobSource, 'name' | 'overview'>): Promise<JobOverview> {
    const overview = await source.overview()
    if (this.jsonEnabled()) return overview
    const { plainFrame } = await import('../../dashboard/once.js')
    this.log(plainFrame(source.name, overview, Math.max(40, process.stdout.columns ?? 80)))
    return overview
  }

  private async watch(
    source: JobSource,
    flags: FlagsOf<typeof JobsTop>,
    within: <T>(work: () => Promise<T>) => Promise<T> = work => work()
  ): Promise<undefined> {
    const [{ keyboard, wantsColor }, { runDashboard }] = await Promise.all([
      import('../../dashboard/environment.js'),
      import('../../dashboard/start.js')
    ])
    const keys = keyboard(Boolean(flags['token-stdin'])) ?? this.refuse()
    const theme = wantsColor() ? 'color' : 'mono'
    const options = { source, keyboard: keys, interval: flags.interval, readOnly: flags['read-only'], theme } as const
    const signal = await within(() => runDashboard(options))
    // The terminal and the database are cleaned up. End by the same signal, so that the parent process sees it.
    if (signal) process.kill(process.pid, signal)
  }

  private refuse(): never {
    this.error('this is not a terminal: add --once for one plain frame, or --json', { exit: 2 })
  }
}
