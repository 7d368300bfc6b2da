// The short form of every attack. `npm run attack` repeats them in full, and also checks their time limits.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t from 'tap'
import { root } from '../scenarios/appliance.js'

t.test('an appliance under attack stays within its limits', async t => {
  const args = ['-u', 'NODE_OPTIONS', process.execPath, join(root, 'dist/test/attack/run.js'), '--short']
  const child = spawn('env', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const [code] = await once(child, 'close')
  // One line for each attack, and below a failed attack one line for each fault.
  const results = said.split(/\n(?! )/).filter(line => /^(ok|FAILED) /.test(line))
  for (const result of results) t.match(result, /^ok /, result.replaceAll('\n', ';'))
  t.equal(code, 0, 'the appliance ended well')
  t.match(said, new RegExp(`^${results.length} passed, 0 failed$`, 'm'), said.split('\n').slice(-3).join(' '))
})
