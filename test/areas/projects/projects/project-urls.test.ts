import { projectUrls } from '../../../../src/areas/projects/projects/project-urls.js'
import { loadConfig } from '../../../../src/config.js'
import t from '../../../helpers/tap.js'

/** The configuration -> the address of SSH (decision 30). */
const CASES: readonly (readonly [Record<string, string>, string])[] = [
  [{}, 'ssh://git@127.0.0.1:2222/a/b.git'],
  [{ URL: 'https://git.example.org' }, 'ssh://git@git.example.org:2222/a/b.git'],
  [{ URL: 'https://git.example.org/git', SSH_PORT: '22' }, 'git@git.example.org:a/b.git'],
  [{ URL: 'https://[::1]:8443' }, 'ssh://git@[::1]:2222/a/b.git'],
  [{ URL: 'https://[::1]:8443', SSH_PUBLIC_PORT: '22' }, 'git@[::1]:a/b.git'],
  [{ URL: 'https://git.example.org', SSH_PUBLIC_HOST: '2001:db8::2' }, 'ssh://git@[2001:db8::2]:2222/a/b.git'],
  [
    { URL: 'https://git.example.org', SSH_PUBLIC_HOST: 'ssh.example.org', SSH_PUBLIC_PORT: '443' },
    'ssh://git@ssh.example.org:443/a/b.git'
  ],
  [{ URL: 'https://git.example.org', SSH_ENABLED: 'false' }, 'git@git.example.org:a/b.git']
]

t.test('the address of SSH follows the configuration', async t => {
  process.env.GITSTEAD_HOME = t.testdir()
  for (const [variables, address] of CASES) {
    const set = Object.entries(variables).map(([name, value]) => [`GITSTEAD_${name}`, value] as const)
    for (const [name, value] of set) process.env[name] = value
    loadConfig({})
    t.equal(projectUrls('a/b').ssh, address)
    for (const [name] of set) delete process.env[name]
  }
})
