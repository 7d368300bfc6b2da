// Output that cannot be written.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { program } from '../scenarios/appliance.js'

t.test('a full disk ends a command with one line', async t => {
  for (const args of ['templates list licenses', 'templates list licenses --json']) {
    const child = spawn('sh', ['-c', `exec "${process.execPath}" "${program}" ${args} > /dev/full`], {
      env: Object.fromEntries(Object.entries(process.env).filter(([name]) => name !== 'NODE_OPTIONS')),
      stdio: ['ignore', 'ignore', 'pipe']
    })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    const [code] = await once(child, 'close')
    t.equal(code, 1, args)
    t.match(said, /^gitstead: the output cannot be written: ENOSPC[^\n]*\n$/)
  }
})
