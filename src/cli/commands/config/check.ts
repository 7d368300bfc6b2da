import { Args } from '@oclif/core'
import { BaseCommand } from '../../base.js'

export default class ConfigCheck extends BaseCommand {
  static override summary = 'Tell all that is wrong with the configuration'
  static override description =
    "Without FILE what the appliance would load: defaults, the home's config.yaml, the environment. With FILE that file over the defaults alone, so that it can be checked before it is put in place. Exit code 1 where anything is wrong. With --json: {ok, file, problems: [{path, text, origin}]}."
  static override examples = [
    '<%= config.bin %> config check',
    '<%= config.bin %> config check ./config.yaml.new && mv config.yaml.new /var/lib/gitstead/config.yaml'
  ]
  static override args = { file: Args.string({ description: 'a file such as config.yaml' }) }

  async run() {
    const { flags, args } = await this.parse(ConfigCheck)
    const { checkConfig } = await import('../../check-config.js')
    const { file, problems } = checkConfig(flags, args.file)
    for (const { text, origin } of problems) this.log(`${origin}: ${text}`)
    if (problems.length === 0) this.log('the configuration is right')
    else process.exitCode = 1
    return { ok: problems.length === 0, file, problems }
  }
}
