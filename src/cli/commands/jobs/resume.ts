import { Args } from '@oclif/core'
import { BaseCommand } from '../../base.js'

export default class JobsResume extends BaseCommand {
  static override summary = 'Resume a paused queue: workers take its jobs again'
  static override examples = ['<%= config.bin %> jobs resume hooks', '<%= config.bin %> jobs resume builds --json']
  static override args = {
    queue: Args.string({ required: true, description: 'the queue: default, builds, hooks, mail or maintenance' })
  }

  async run(): Promise<{ resumed: string }> {
    const { flags, args } = await this.parse(JobsResume)
    this.configure(flags)
    const [{ withDatabase }, { commandOrigin }, { resumeQueue }] = await Promise.all([
      import('../../with-database.js'),
      import('../../origin.js'),
      import('../../../areas/jobs/jobs.js')
    ])
    await withDatabase(() => resumeQueue(args.queue, commandOrigin()))
    this.log(`resumed ${args.queue}`)
    return { resumed: args.queue }
  }
}
