import { BaseCommand } from '../framework/base.js'
import { Args } from '../oclif.js'
import { completionScript } from '../reference/completion.js'

export default class Completion extends BaseCommand {
  static override summary = 'Print the completion script for a shell'
  static override description =
    'The script contains all commands, flags and values, with the names of queues, tasks and settings. For the names of ' +
    'users, projects, hooks, broadcast messages, backups, failed jobs and unfinished builds it asks the running appliance ' +
    'of --home, at most a second. Print it again after an upgrade.'
  static override examples = [
    'source <(<%= config.bin %> completion bash)',
    '<%= config.bin %> completion bash > /etc/bash_completion.d/<%= config.bin %>',
    '<%= config.bin %> completion zsh > /usr/local/share/zsh/site-functions/_<%= config.bin %>',
    '<%= config.bin %> completion fish > ~/.config/fish/completions/<%= config.bin %>.fish'
  ]
  static override args = {
    shell: Args.string({ description: 'the shell that you use', required: true, options: ['bash', 'zsh', 'fish'] })
  }

  async run(): Promise<{ shell: string; script: string }> {
    const { args } = await this.parse(Completion)
    const script = await completionScript(args.shell, this.config)
    if (!this.jsonEnabled()) process.stdout.write(script)
    return { shell: args.shell, script }
  }
}
