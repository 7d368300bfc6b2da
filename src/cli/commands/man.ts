import { BaseCommand } from '../framework/base.js'
import { manPage } from '../reference/man.js'

export default class Man extends BaseCommand {
  static override summary = 'Print the man page, which describes every command'
  static override description = 'The page is in man(7) format and contains the help of all commands.'
  static override examples = [
    '<%= config.bin %> man | man -l -',
    '<%= config.bin %> man > /usr/local/share/man/man1/<%= config.bin %>.1'
  ]

  async run(): Promise<{ page: string }> {
    await this.parse(Man)
    const page = manPage(this.config)
    if (!this.jsonEnabled()) process.stdout.write(page)
    return { page }
  }
}
