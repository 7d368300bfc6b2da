// The command line: everything else is loaded by the command that needs it.
import { execute, settings } from '@oclif/core'
import { root } from '../config.js'

settings.performanceEnabled = false
await execute({ dir: root })
