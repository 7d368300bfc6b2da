import { Args } from '@oclif/core'
import { BaseCommand } from '../base.js'

export default class Completion extends BaseCommand {
  static override summary = 'Print the completion script for a shell'
  static override description =
    'The script contains all commands, flags and values, so that no key press has to start a process. ' +
    'Print it again after an upgrade.'
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
    const { completionScript } = await import('../reference/completion.js')
    const script = completionScript(args.shell, this.config)
    if (!this.jsonEnabled()) process.stdout.write(script)
    return { shell: args.shell, script }
  }
}
