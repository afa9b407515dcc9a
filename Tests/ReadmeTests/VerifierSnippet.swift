// snippet: verifier
import Lifeline
import LifelineTesting

func verifyReadings() throws {
    let readings = [Reading(sensor: 1, value: -40), Reading(sensor: 255, value: .max)]
    try CodecVerifier(ReadingCodec(), messages: readings).run()
}
// end
