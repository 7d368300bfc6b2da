import { checkConfig } from '../../appliance/check-config.js'
import { BaseCommand } from '../../framework/base.js'
import { Args } from '../../oclif.js'

export default class ConfigCheck extends BaseCommand {
  static override summary = 'Report every problem of the configuration'
  static override description =
    "Without FILE, it checks the configuration that the appliance would load: the defaults, the home's config.yaml and the environment. With FILE, it checks only the defaults and that file, so that you can test a file before you install it. The exit code is 1 if it finds a problem. With --json: {ok, file, problems: [{path, text, origin}]}."
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
