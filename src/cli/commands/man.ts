import { BaseCommand } from '../base.js'

export default class Man extends BaseCommand {
  static override summary = 'Print the man page, with every command'
  static override description = 'It is made from what the commands say of themselves, in the format of man(7).'
  static override examples = [
    '<%= config.bin %> man | man -l -',
    '<%= config.bin %> man > /usr/local/share/man/man1/<%= config.bin %>.1'
  ]

  async run(): Promise<{ page: string }> {
    await this.parse(Man)
    const { manPage } = await import('../reference/man.js')
    const page = manPage(this.config)
    if (!this.jsonEnabled()) process.stdout.write(page)
    return { page }
  }
}
