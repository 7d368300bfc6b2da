import { testAccess } from '../../../access/matrix.js'
import { fillWithBuild } from '../builds/make-builds.js'
import { access as protocol } from './runner-protocol.access.js'
import { access as runners } from './runners.access.js'

testAccess([protocol, runners], fillWithBuild)
