import { resumeQueue } from '../../../areas/upkeep/jobs/jobs.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args } from '../../oclif.js'

export default class JobsResume extends BaseCommand {
  static override summary = 'Resume a paused queue: workers take jobs from it again'
  static override examples = ['<%= config.bin %> jobs resume hooks', '<%= config.bin %> jobs resume builds --json']
  static override strict = false
  static override args = {
    queue: Args.string({
      required: true,
      description: 'the queue: default, builds, hooks, mail, maintenance, imports or mirrors; you can give several'
    })
  }

  async run() {
    const { flags, argv } = await this.parse(JobsResume)
    this.configure(flags)
    const resume = async (queue: string) => {
      await resumeQueue(queue, commandOrigin())
      this.log(`resumed ${queue}`)
      return { resumed: queue }
    }
    return withDatabase(() => doEach(argv.map(String), this.jsonEnabled(), resume))
  }
}
