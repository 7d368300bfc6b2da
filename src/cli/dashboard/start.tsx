// Runs the dashboard: takes over the terminal, renders, and always restores the terminal.
import type { ReadStream } from 'node:tty'
import { render } from 'ink'
import { App } from './app.js'
import { Held } from './drawing/painted-frame.js'
import type { Theme } from './drawing/style.js'
import { Screen } from './screen.js'
import type { JobSource } from './source.js'

export interface DashboardOptions {
  readonly source: JobSource
  readonly keyboard: ReadStream
  readonly interval: number
  readonly readOnly: boolean
  readonly theme: Theme
}

const SIGNALS = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const

/**
 * Runs until the user quits or a signal ends it. Returns the signal, or null when the user quit. When the source fails at
 * the start, it throws before it touches the terminal.
 */
export async function runDashboard(options: DashboardOptions): Promise<NodeJS.Signals | null> {
  const { keyboard, ...rest } = options
  const first = await rest.source.overview()
  const screen = new Screen(process.stdout)
  let ended: NodeJS.Signals | null = null
  let unmount: () => void = () => undefined
  const end = (signal: NodeJS.Signals) => {
    ended ??= signal
    unmount()
  }
  const hangUp = () => end('SIGHUP')
  for (const signal of SIGNALS) process.on(signal, end)
  process.stdout.on('error', hangUp)
  keyboard.on('end', hangUp)
  const quiet = silenceConsole()
  const ungrip = holdTerminal(screen, keyboard)
  screen.enter()
  try {
    // With `debug`, Ink writes every frame in full. Our screen finds the lines that changed.
    const frames = (
      <Held value={screen.hold}>
        <App {...rest} first={first} screen={screen} />
      </Held>
    )
    const app = render(frames, {
      stdout: screen as unknown as NodeJS.WriteStream,
      stdin: keyboard,
      debug: true,
      exitOnCtrlC: false,
      patchConsole: false
    })
    unmount = app.unmount
    await app.waitUntilExit()
  } finally {
    ungrip()
    screen.leave()
    quiet()
    for (const signal of SIGNALS) process.off(signal, end)
    process.stdout.off('error', hangUp)
    keyboard.off('end', hangUp)
    // An open keyboard would keep the process alive.
    keyboard.destroy()
  }
  return ended
}

/**
 * Restores the terminal when a signal stops the process, and takes it over again when the process continues: in the meantime,
 * the shell has set its own modes and written to the screen. Returns a function that removes the signal handlers.
 */
function holdTerminal(screen: Screen, keyboard: ReadStream): () => void {
  const stop = () => {
    screen.pause()
    keyboard.setRawMode(false)
    process.kill(process.pid, 'SIGSTOP')
  }
  const goOn = () => {
    // Node.js does not set a mode that it believes is already set, so switch it off first.
    keyboard.setRawMode(false)
    keyboard.setRawMode(true)
    screen.resume()
  }
  process.on('SIGTSTP', stop)
  process.on('SIGCONT', goOn)
  return () => {
    process.off('SIGTSTP', stop)
    process.off('SIGCONT', goOn)
  }
}

/** Silences the console: a message of a library would appear inside a frame. Returns a function that undoes it. */
function silenceConsole(): () => void {
  const { log, warn, error } = console
  const nothing = () => undefined
  Object.assign(console, { log: nothing, warn: nothing, error: nothing })
  return () => void Object.assign(console, { log, warn, error })
}
