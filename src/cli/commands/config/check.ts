import { checkConfig } from '../../appliance/check-config.js'
import { BaseCommand } from '../../framework/base.js'
import { Args } from '../../oclif.js'

export default class ConfigCheck extends BaseCommand {
  static override summary = 'Report every problem of the configuration'
  static override description =
    "Without FILE it checks what the appliance would load: the defaults, the home's config.yaml and the environment. With FILE it checks the defaults and that file alone, so that you can check a file before you put it in place. Exit code 1 when it finds a problem. With --json: {ok, file, problems: [{path, text, origin}]}."
  static override examples = [
    '<%= config.bin %> config check',
    '<%= config.bin %> config check ./config.yaml.new && mv config.yaml.new /var/lib/gitstead/config.yaml'
  ]
  static override args = { file: Args.string({ description: 'a configuration file to check before you use it' }) }

  async run() {
    const { flags, args } = await this.parse(ConfigCheck)
    const { file, problems } = checkConfig(flags, args.file)
    for (const { text, origin } of problems) this.log(`${origin}: ${text}`)
    if (problems.length === 0) this.log('the configuration has no problems')
    else process.exitCode = 1
    return { ok: problems.length === 0, file, problems }
  }
}
