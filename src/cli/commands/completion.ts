import { BaseCommand } from '../framework/base.js'
import { Args } from '../oclif.js'
import { completionScript } from '../reference/completion.js'

export default class Completion extends BaseCommand {
  static override summary = 'Print the completion script for a shell'
  static override description =
    'The script completes all commands, flags and values, and the names of queues, tasks and settings. It gets the names of ' +
    'users, projects, hooks, broadcast messages, backups, failed jobs and unfinished builds from the running appliance of ' +
    '--home, within one second. Print it again after an upgrade.'
  static override examples = [
    'source <(<%= config.bin %> completion bash)',
    '<%= config.bin %> completion bash > /etc/bash_completion.d/<%= config.bin %>',
    '<%= config.bin %> completion zsh > /usr/local/share/zsh/site-functions/_<%= config.bin %>',
    '<%= config.bin %> completion fish > ~/.config/fish/completions/<%= config.bin %>.fish'
  ]
  static override args = {
    shell: Args.string({ description: 'the name of the shell', required: true, options: ['bash', 'zsh', 'fish'] })
  }

  async run(): Promise<{ shell: string; script: string }> {
    const { args } = await this.parse(Completion)
    const script = await completionScript(args.shell, this.config)
    if (!this.jsonEnabled()) process.stdout.write(script)
    return { shell: args.shell, script }
  }
}
